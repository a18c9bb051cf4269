import { type AnswerNode, type DocumentNode, type OperationNode, type SchemaNode, stepTo } from './document.ts';

/** A schema and where it stands in the document, as a JSONPath. */
export interface Site {
  readonly path: string;
  readonly schema: SchemaNode;
  /** True for one of several alternatives: a value need not keep to it. */
  readonly alternative?: boolean;
}

/** One description of a place with all that it is made of. */
export interface Place extends Site {
  readonly sites: readonly Site[];
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

function referenced(document: DocumentNode, reference: string): Site | undefined {
  const name = reference.split('/').at(-1) ?? '';
  const schema = document.components.schemas[name];
  return schema && { path: stepTo('$.components.schemas', name), schema };
}

/** The schema itself and all that it points to and is made of, the most telling first. */
export function flatten(document: DocumentNode, site: Site, seen = new Set<string>()): Site[] {
  if (seen.has(site.path)) return [];
  seen.add(site.path);
  const { schema, path, alternative = false } = site;
  const target = schema.$ref === undefined ? undefined : referenced(document, schema.$ref);
  const parts = (['allOf', 'anyOf'] as const).flatMap((keyword) =>
    (schema[keyword] ?? []).flatMap((part, index): Site[] =>
      typeof part === 'boolean'
        ? []
        : [{ path: `${path}.${keyword}[${index}]`, schema: part, alternative: alternative || keyword === 'anyOf' }],
    ),
  );
  return [
    ...(target === undefined ? [] : flatten(document, { ...target, alternative }, seen)),
    site,
    ...parts.flatMap((part) => flatten(document, part, seen)),
  ];
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
  const places = roots.map((root) => ({ ...root, sites: flatten(document, root) }));
  const sites = places.flatMap((place) => place.sites);
  const written = roots.at(-1) ?? first;
  const owner = written.schema.$ref === undefined ? written : (referenced(document, written.schema.$ref) ?? written);
  const childSites = (child: (site: Site) => Site | undefined) =>
    sites.map(child).filter((site): site is Site => site !== undefined);
  return {
    written,
    owner,
    places,
    sites,
    open: sites.every(saysNothing),
    personal: sites.some(({ schema }) => schema['x-pii'] !== undefined),
    describesMembers: sites.some(({ schema }) => schema.properties !== undefined),
    member: (name) => {
      const found = childSites(({ path, schema }) => {
        const member =
          schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
        if (member === undefined) return undefined;
        return { path: stepTo(`${path}.properties`, name), schema: typeof member === 'boolean' ? { not: {} } : member };
      });
      if (found.length > 0) return guideTo(found);
      const open = childSites(({ path, schema }) => {
        const rest = schema['additionalProperties'];
        return typeof rest === 'object' && rest !== null
          ? { path: `${path}.additionalProperties`, schema: rest as SchemaNode }
          : undefined;
      });
      return open.length === 0 ? undefined : guideTo(open);
    },
    items: () => {
      const found = childSites(({ path, schema }) =>
        typeof schema.items === 'object' ? { path: `${path}.items`, schema: schema.items } : undefined,
      );
      return found.length === 0 ? undefined : guideTo(found);
    },
  };
}
