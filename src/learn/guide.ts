import { type AnswerNode, type DocumentNode, type OperationNode, stepTo } from './document.ts';
import { flatten, itemSites, memberSites, referenced, restSites, type Site, typesOf } from './sites.ts';

/** One description of a place, with the types that a value must have one each of. */
export interface Place extends Site {
  readonly types: readonly (readonly string[])[];
}

/** What the contract says of one place of an answer. */
export interface Guide {
  /** Where the place itself is described, before references are followed. */
  readonly written: Site;
  /** The schema that says most, references followed: what is learned about an object is added there. */
  readonly owner: Site;
  /** True where the contract says nothing, or only that it is an object. */
  readonly open: boolean;
  /** True for personal data. */
  readonly personal: boolean;
  /** Where the place is described: more than once where several parts of an object name the same field. */
  readonly places: readonly Place[];
  /** Every schema that the value must keep to, flattened. */
  readonly sites: readonly Site[];
  /** True where members are described. */
  readonly describesMembers: boolean;
  /** Members that objects must have, each with the schema that requires it. */
  readonly required: readonly { readonly path: string; readonly name: string }[];
  /** What is said of a member; undefined for one that is not documented. */
  member(name: string): Guide | undefined;
  /** What is said of elements; undefined where nothing describes arrays. */
  items(): Guide | undefined;
}

/** Finds the guide to an answer; undefined where the contract does not describe one in JSON. */
export type FindGuide = (operationId: string, status: number, open: boolean) => Guide | undefined;

const JSON_TYPE = 'application/json';

/** Compiles what the contract says of every place of every answer; places are worked out when they are first met. */
export function compileGuides(document: DocumentNode): FindGuide {
  const operations = new Map<string, { at: string; source: OperationNode }>();
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, source] of Object.entries(methods))
      operations.set(source.operationId, { at: stepTo(stepTo('$.paths', path), method), source });
  const known = new Map<string, Guide>();
  const guideTo = (sites: readonly Site[]): Guide => {
    const key = sites.map(({ path }) => path).join(' ');
    const guide = known.get(key) ?? createGuide(document, sites, guideTo);
    known.set(key, guide);
    return guide;
  };
  return (operationId, status, open) => {
    const operation = operations.get(operationId);
    if (operation === undefined) return undefined;
    const { responses } = operation.source;
    const name = responses[String(status)] !== undefined ? String(status) : status >= 400 ? 'default' : undefined;
    const answer = name === undefined ? undefined : responses[name];
    if (name === undefined || answer === undefined) return undefined;
    const site = answerSite(document, stepTo(stepTo(operation.at, 'responses'), name), answer, open);
    return site && guideTo([site]);
  };
}

function answerSite(document: DocumentNode, at: string, answer: AnswerNode, open: boolean): Site | undefined {
  const shared = answer.$ref?.split('/').at(-1);
  const path = shared === undefined ? at : stepTo('$.components.responses', shared);
  const media = (shared === undefined ? answer : document.components.responses[shared])?.content?.[JSON_TYPE];
  if (media === undefined) return undefined;
  const variant = media['x-variants']?.[open ? 'open' : 'full'];
  if (variant === undefined)
    return { path: `${stepTo(stepTo(path, 'content'), JSON_TYPE)}.schema`, schema: media.schema };
  return referenced(document, variant);
}

const SAYS_NOTHING = new Set([
  '$ref',
  'type',
  'description',
  'title',
  'format',
  'allOf',
  'anyOf',
  'example',
  'examples',
]);

function saysNothing({ schema }: Site): boolean {
  const types = schema.type === undefined ? ['object'] : [schema.type].flat();
  if (types.join() !== 'object') return false;
  return Object.keys(schema).every((keyword) => SAYS_NOTHING.has(keyword) || keyword.startsWith('x-'));
}

function createGuide(
  document: DocumentNode,
  roots: readonly Site[],
  guideTo: (sites: readonly Site[]) => Guide,
): Guide {
  const [first] = roots;
  if (first === undefined) throw new Error('a guide needs a schema');
  const parts = roots.map((root) => flatten(document, root));
  const places = roots.map((root, at) => ({ ...root, types: typesOf(parts[at] ?? []) }));
  const sites = parts.flat();
  const written = roots.at(-1) ?? first;
  const owner = written.schema.$ref === undefined ? written : (referenced(document, written.schema.$ref) ?? written);
  const guideToAll = (found: readonly Site[]) => (found.length === 0 ? undefined : guideTo(found));
  const names = new Set(sites.flatMap(({ schema }) => Object.keys(schema.properties ?? {})));
  // Worked out when first met, because a schema may hold itself, and once, because every object of a page asks.
  const members = new Map<string, Guide | undefined>();
  let rest: { guide: Guide | undefined } | undefined;
  let items: { guide: Guide | undefined } | undefined;
  return {
    written,
    owner,
    places,
    sites,
    open: sites.every(saysNothing),
    personal: sites.some(({ schema }) => schema['x-pii'] !== undefined),
    describesMembers: names.size > 0,
    required: sites.flatMap(({ path, schema, alternative }) =>
      alternative === true ? [] : (schema.required ?? []).map((name) => ({ path, name })),
    ),
    member: (name) => {
      if (!names.has(name)) return (rest ??= { guide: guideToAll(sites.flatMap(restSites)) }).guide;
      if (!members.has(name)) members.set(name, guideToAll(sites.flatMap((site) => memberSites(site, name))));
      return members.get(name);
    },
    items: () => (items ??= { guide: guideToAll(sites.flatMap(itemSites)) }).guide,
  };
}
