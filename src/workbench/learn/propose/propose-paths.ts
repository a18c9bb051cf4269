import { wilsonBound } from '../confidence.ts';
import type { DocumentNode } from '../../../learner/document.ts';
import type { Observations, PathCounts } from '../../../learner/observations/observations.ts';
import type { Limits, OverlayAction, Proposal } from './proposal.ts';
import { componentName, freeName } from './propose-shapes.ts';
import { schemaWords, toSchema } from './proposed-schema.ts';

/**
 * Paths that the specification mentions but does not describe. Only these paths are added by default, because every
 * caller gains access to an added path.
 */
const NAMED = /^\/services\/v2\/issuetracker\/.*\/ticket\.json$/;

/** Proposes adding undocumented paths. A path is added to the contract only if its response bodies were sampled. */
export function proposePaths({ paths }: Observations, document: DocumentNode, limits: Limits): Proposal[] {
  const { minResponses, writeAddresses } = limits;
  const known = new Set(Object.keys(document.paths).map(nameless));
  const taken = new Set(Object.keys(document.components.schemas));
  const ids = new Set(
    Object.values(document.paths).flatMap((methods) => Object.values(methods).map((one) => one.operationId)),
  );
  return [...paths].flatMap(([key, seen]): Proposal[] => {
    const [method = '', template = ''] = key.split(' ', 2);
    const good = responsesBelow(seen, 400);
    if (good < minResponses) return [];
    const wanted = writeAddresses || NAMED.test(template);
    const writes =
      wanted &&
      method === 'GET' &&
      seen.body !== undefined &&
      !known.has(nameless(template)) &&
      !template.endsWith('/**');
    const schema = seen.body && toSchema(seen.body);
    return [
      {
        kind: 'path',
        place: key,
        statement: `returns ${statusWords(seen)}${schema === undefined ? '; response bodies were not read' : `, with ${schemaWords(schema, seen.body)}`}`,
        // Errors do not lower the confidence. For example, a 404 for a nonexistent ticket says nothing about the path.
        confidence: wilsonBound(good, good),
        evidence: {
          seen: good,
          answers: good,
          of: seen.seen,
          firstSeenAt: seen.firstSeenAt,
          lastSeenAt: seen.lastSeenAt,
        },
        actions: writes && schema !== undefined ? writePath(template, schema, taken, ids) : [],
      },
    ];
  });
}

const nameless = (template: string) => template.replaceAll(/\{[^{}]*\}/g, '{}');

function responsesBelow({ statuses }: PathCounts, limit: number): number {
  return [...statuses].reduce((sum, [status, count]) => sum + (status >= 200 && status < limit ? count : 0), 0);
}

function statusWords({ statuses }: PathCounts): string {
  return [...statuses]
    .toSorted((a, b) => b[1] - a[1])
    .map(([status, count]) => `${status} (${count})`)
    .join(', ');
}

/**
 * Returns actions that add the operation and a component for its bodies. The operation requires a credential. Whether
 * it has any other requirements is unknown.
 */
function writePath(
  template: string,
  schema: Readonly<Record<string, unknown>>,
  taken: Set<string>,
  ids: Set<string>,
): OverlayAction[] {
  const words = template
    .split('/')
    .slice(1)
    .map((segment) => segment.replace('.json', ''));
  const parameters: { readonly name: string; readonly whole: boolean }[] = [];
  const path = words.map((word, at) => {
    if (!word.startsWith('{')) return word;
    const before = words[at - 1] ?? '';
    const whole = word === '{id}';
    const name = freeName(whole ? `${before}Id` : before, new Set(parameters.map((one) => one.name)));
    parameters.push({ name, whole });
    return `{${name}}`;
  });
  const name = componentName(
    path
      .slice(2)
      .filter((word) => !word.startsWith('{'))
      .join('.') || 'Learned',
  );
  const component = freeName(`${name}Answer`, taken);
  const operationId = freeOperation(`get${name.replaceAll(/\d/g, '')}`, ids);
  taken.add(component);
  ids.add(operationId);
  const described = {
    description: `The sampled responses to GET ${template}.`,
    'x-provenance': 'observed',
    ...schema,
  };
  const operation = {
    operationId,
    summary: 'A path learned from traffic',
    'x-provenance': 'observed',
    'x-credential': 'required',
    'x-items-at': 'body',
    parameters: parameters.map((one) => ({
      name: one.name,
      in: 'path',
      required: true,
      'x-provenance': 'inferred',
      schema: { $ref: `#/components/schemas/${one.whole ? 'Id' : 'ShortText'}` },
    })),
    responses: {
      '200': {
        description: 'A response as sampled.',
        'x-provenance': 'observed',
        content: { 'application/json': { schema: { $ref: `#/components/schemas/${component}` } } },
      },
      default: { $ref: '#/components/responses/OtherError' },
    },
  };
  return [
    {
      target: '$.components.schemas',
      description: `The shape of the responses of ${template}`,
      update: { [component]: described },
    },
    {
      target: '$.paths',
      description: `${template}: an undocumented path. This action gives access to every caller with a credential`,
      update: { [`/${path.join('/')}.json`]: { get: operation } },
    },
  ];
}

function freeOperation(id: string, taken: ReadonlySet<string>): string {
  let free = id;
  while (taken.has(free)) free += 'Learned';
  return free;
}
