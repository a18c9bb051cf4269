import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROFILE } from '../../../src/profile/profile.ts';
import { responseFile } from '../../../src/engine/contract/contract-files.ts';
import { EXPECTATIONS } from '../../../src/engine/contract/generate/generate-schemas.ts';
import {
  resolve,
  type ResponseObject,
  type SchemaObject,
  type SchemaOrBoolean,
} from '../../../src/engine/contract/openapi-document.ts';
import { DEFAULT_JSON_LIMITS } from '../../../src/lib/bounded-json.ts';
import { createScanResponse } from '../../../src/engine/pipeline/scan-response.ts';
import { openScanner } from '../../../src/engine/scanner/open-scanner.ts';
import { exampleOf } from '../../builders/contract-examples.ts';
import { type OperationCase, OPERATIONS, EXAMPLE_IDS } from '../../builders/operations.ts';
import { type FakeResponse, startFakeUpstream } from '../../builders/fake-upstream.ts';
import { knowing } from '../../builders/knowing-upstream.ts';
import { startTestGateway } from '../../builders/test-gateway.ts';
import { bent, contract, document, example, judge, operation } from './sample.ts';

// The contract promises that a statement that was only inferred, or seen in examples, never causes a refusal
// (docs/adr/0011-what-was-not-shown.md). These tests go through all of these statements.

/** A statement about one place in a response body. */
interface Statement {
  /** The schema and the keyword, or the name of the rule. */
  readonly name: string;
  readonly operation: string;
  readonly keyword: string;
  /** The place as member names and indices, separated by dots. Empty for the whole body. */
  readonly path: string;
  /** A value that breaks only this statement. Undefined if the member must be removed. */
  readonly value: unknown;
}

const isOneOf = (types: unknown, value: unknown) =>
  [types].flat().some((type) => (type === 'null' ? value === null : type === 'object' ? false : typeof value === type));

/** Values that break each keyword. Several keywords expect a list of statements. */
const BREAKING: Readonly<Record<string, (limit: unknown) => readonly { name?: string; value: unknown }[]>> = {
  'x-expected': (names) => (names as readonly string[]).map((name) => ({ name, value: undefined })),
  'x-expected-type': (types) =>
    [5, 'text', null, true].filter((value) => !isOneOf(types, value)).map((value) => ({ value })),
  'x-expected-pattern': () => [{ value: 'some other form' }],
  'x-expected-enum': () => [{ value: 'other' }],
  'x-expected-minimum': (limit) => [{ value: Number(limit) < -(2 ** 60) ? -1e20 : Number(limit) - 1 }],
  'x-expected-maximum': () => [{ value: 1e20 }],
};

/** Returns the statements about the value at a path, and about the values inside it. */
function statementsIn(
  id: string,
  place: { readonly schema: SchemaOrBoolean; readonly file: string },
  path: string,
  value: unknown,
): Statement[] {
  const { schema, file } = place;
  if (typeof schema === 'boolean') return [];
  const inside = (child: SchemaOrBoolean, at = path, found = value) =>
    statementsIn(id, { schema: child, file }, at, found);
  const join = (name: string | number) => (path === '' ? `${name}` : `${path}.${name}`);
  const own = EXPECTATIONS.filter((keyword) => Object.hasOwn(schema, keyword)).flatMap((keyword) =>
    (BREAKING[keyword]?.(schema[keyword]) ?? [])
      .filter(({ name }) => name === undefined || Object.hasOwn(value as object, name))
      .map(({ name, value: broken }) => ({
        name: `${file} ${keyword}`,
        operation: id,
        keyword,
        path: name === undefined ? path : join(name),
        value: broken,
      })),
  );
  const target = schema.$ref === undefined ? undefined : posix.join(posix.dirname(file), schema.$ref);
  const referenced =
    target === undefined
      ? []
      : statementsIn(id, { schema: contract.schemas.get(target) ?? true, file: target }, path, value);
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, child]) =>
    typeof value === 'object' && value !== null && Object.hasOwn(value, name)
      ? inside(child, join(name), (value as Record<string, unknown>)[name])
      : [],
  );
  const items = Array.isArray(value)
    ? value.flatMap((one, index) => inside(schema.items ?? true, join(index), one))
    : [];
  return [...own, ...referenced, ...members, ...items, ...(schema.allOf ?? []).flatMap((part) => inside(part))];
}

const successOf = (id: string) => contract.validators(id).successes[0]?.status ?? 200;

// A finished job has every field of a job.
const bodyOf = (id: string): unknown => (id === 'getGdprJob' ? example('finishedJob') : exampleOf(id));

/**
 * The values about which a rule makes a stated requirement as well: the number of items in a list, and the node whose
 * favorite or wiki mark was removed.
 */
const ALSO_STATED = /^listCount$|^result\.\w+\.node\.id$/;

const STATEMENTS: readonly Statement[] = [
  ...contract.operations.flatMap(({ id }) => {
    const file = responseFile(id, String(successOf(id)), 'full');
    const all = statementsIn(id, { schema: contract.schemas.get(file) ?? true, file }, '', bodyOf(id));
    return all.filter(({ path, keyword }) => keyword === 'x-expected' || !ALSO_STATED.test(path));
  }),
  ...['getComment', 'listNodeComments', 'listAnswerComments'].map((id) => ({
    name: 'recipients-visibility',
    operation: id,
    keyword: 'recipients-visibility',
    path: { getComment: 'recipients', listNodeComments: '0.recipients' }[id] ?? 'list.0.recipients',
    value: [{ id: 7, name: 'Staff', type: 'group' }],
  })),
];

/** The expectations in all schemas of success responses. */
function expectationsOf(file: string, seen: Set<string>, found: Set<string>): void {
  if (seen.has(file)) return;
  seen.add(file);
  const visit = (value: unknown, isSchema: boolean): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, child] of Object.entries(value)) {
      if (isSchema && EXPECTATIONS.includes(key)) found.add(`${file} ${key}`);
      if (key === '$ref') expectationsOf(posix.join(posix.dirname(file), String(child)), seen, found);
      else visit(child, key !== 'properties');
    }
  };
  visit(contract.schemas.get(file), true);
}

const pointerOf = (path: string) => (path === '' ? '' : `/${path.replaceAll('.', '/')}`);

const scan = createScanResponse(contract, openScanner(DEFAULT_JSON_LIMITS), PROFILE.items);

function scanned(id: string, json: unknown, query?: string) {
  const one = operation(id);
  const names = one.parameters.filter(({ location }) => location === 'path').map(({ name }) => name);
  const rawParameters = Object.fromEntries(names.map((name) => [name, '118']));
  const { values } = contract.decodeParameters(one, { rawParameters }, query);
  const bytes = Buffer.from(JSON.stringify(json));
  return scan(one, values, { status: successOf(id), mediaType: 'application/json', bytes });
}

describe('an inferred statement', () => {
  it('is in none of the schemas that can refuse a response', () => {
    const HARD = ['type', 'enum', 'const', 'pattern', 'required', 'not', 'additionalProperties', 'uniqueItems'];
    const BOUNDS = 'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength'.split(' ');
    BOUNDS.push('minItems', 'maxItems', 'minProperties', 'maxProperties');
    const strict: string[] = [];
    const visit = (schema: SchemaOrBoolean, place: string, seen: ReadonlySet<unknown>): void => {
      if (typeof schema === 'boolean' || seen.has(schema)) return;
      const below = new Set([...seen, schema]);
      const isOpen = ['inferred', 'not shown'].includes(String(schema['x-provenance']));
      const isUnbounded = isOpen || ['inferred', 'not shown'].includes(String(schema['x-bounds-provenance']));
      // Only the values of an observed field are uncertain, not its type.
      const isOfSeenValues = schema['x-provenance'] === 'observed';
      const values = ['enum', 'const', 'pattern', ...BOUNDS];
      for (const keyword of [isOpen ? HARD : [], isUnbounded ? BOUNDS : [], isOfSeenValues ? values : []].flat())
        if (schema[keyword] !== undefined) strict.push(`${place} ${keyword}`);
      if (schema.$ref !== undefined) visit(resolve<SchemaObject>(document, 'schemas', schema), schema.$ref, below);
      for (const [name, child] of Object.entries(schema.properties ?? {})) visit(child, `${place}/${name}`, below);
      const { items = true, allOf = [], anyOf = [], oneOf = [] } = schema;
      for (const child of [items, ...allOf, ...anyOf, ...oneOf]) visit(child, place, below);
    };
    for (const methods of Object.values(document.paths))
      for (const { responses, operationId } of Object.values(methods))
        for (const [status, response] of Object.entries(responses)) {
          const media = resolve<ResponseObject>(document, 'responses', response).content['application/json'];
          if (status.startsWith('2') && media !== undefined) visit(media.schema, operationId, new Set());
        }
    expect(strict).toEqual([]);
  });

  it('is tested below in every schema', () => {
    const all = new Set<string>();
    const seen = new Set<string>();
    for (const { id } of contract.operations)
      for (const { files } of contract.validators(id).successes) expectationsOf(files.full, seen, all);
    const tested = new Set(STATEMENTS.map(({ name }) => name));
    expect([...all].filter((name) => !tested.has(name))).toEqual([]);
    expect(STATEMENTS.length).toBeGreaterThan(400);
  });

  it.each(contract.operations.map(({ id }) => id))('makes no response of %s invalid', (id) => {
    for (const { path, value, keyword, operation: of } of STATEMENTS) {
      if (of !== id) continue;
      const json = path === '' ? value : bent(bodyOf(id), path, value);
      const { verdict, violations, reported } = judge(id, json, { status: successOf(id) });
      expect({ path, verdict, violations }).toEqual({ path, verdict: 'valid', violations: [] });
      expect(reported.map(({ category, keyword: broken, at }) => `${category} ${broken} ${at}`)).toEqual([
        `advisory ${keyword} ${pointerOf(path)}`,
      ]);
      const read = scanned(id, json);
      if (read !== 'closer') expect(read?.findings).toEqual({ verdict, violations, reported });
    }
  });

  it.each(['listTopicFollowers', 'listNodeFollowers'])('makes no relation in %s invalid', (id) => {
    const json = { ...example('followRelations'), list: [17], listCount: 1 };
    const { verdict, reported } = judge(id, json, { query: 'details=true' });
    expect(verdict).toBe('valid');
    expect(reported).toMatchObject([{ category: 'advisory', keyword: 'x-expected-type', at: '/list/0' }]);
  });
});

describe('a response that is documented only by inference', () => {
  const writes = ['createComment', 'updateComment'];
  const changes: readonly [path: string, value: unknown, keyword: string][] = [
    ['id', undefined, 'required'],
    ['id', 'a', 'type'],
    ['title', 'T', 'not'],
    ['containerIds', [5], 'maxItems'],
    ['type', 'answer', 'only-comments'],
  ];

  it.each(writes)('is only reported if it differs from the contract (%s)', (id) => {
    for (const [path, value, keyword] of changes) {
      const { verdict, reported } = judge(id, bent(example('comment'), path, value));
      expect([path, verdict]).toEqual([path, 'valid']);
      expect(reported).toMatchObject([{ category: 'advisory', keyword, at: `/${path}` }]);
    }
    expect(judge(id, {}, { status: 202 })).toMatchObject({
      verdict: 'valid',
      reported: [{ category: 'advisory', keyword: 'status' }],
    });
  });

  it.each(writes)('is invalid if it cannot be read or contains an error (%s)', (id) => {
    expect(judge(id, undefined).verdict).toBe('violations');
    expect(judge(id, {}, { mediaType: 'text/html' }).verdict).toBe('violations');
    expect(judge(id, { error: 'no' }).violations).toMatchObject([{ keyword: 'error-in-success' }]);
  });
});

describe('a gateway that enforces responses', () => {
  const byName = (statements: readonly Statement[]) =>
    Map.groupBy(statements, ({ name }) => name).values() as Iterable<readonly [Statement]>;
  const stored = ({ cached = false }: OperationCase) => cached;

  it('forwards and stores responses regardless of inferred statements', async () => {
    let given: FakeResponse = {};
    const upstream = await startFakeUpstream(knowing(() => given));
    const config = {
      mode: 'staging',
      checks: { responses: 'enforce', permissions: 'off' },
      gdpr: { duplicateWindowSeconds: 0 },
    };
    const gateway = await startTestGateway({ upstream, config });
    let number = 0;
    for (const one of OPERATIONS) {
      let page = 0;
      // One place per schema and keyword is enough, because the tests above go through all places.
      for (const [{ operation: id, path, value }] of byName(STATEMENTS.filter(({ operation: of }) => of === one.id))) {
        given = { status: one.success, json: bent(bodyOf(id), path, value) };
        number += 1;
        page += 1;
        const target = `${one.target(EXAMPLE_IDS)}${stored(one) ? `?pageSize=${page}` : ''}`;
        const call = () => gateway.call(target, { method: one.method, user: one.allowed, body: one.body });
        const first = await call();
        expect([id, path, first.status, first.json?.['error']]).toEqual([id, path, one.success, undefined]);
        expect(first.headers['contract-status']).toMatch(/^violations; count=1; worst=advisory/);
        if (stored(one)) expect((await call()).headers['cache-status']).toMatch(/hit/);
      }
    }
    expect(number).toBeGreaterThan(100);
  });
});
