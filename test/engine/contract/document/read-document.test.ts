import { describe, expect, it, afterEach, vi } from 'vitest';
import { CONTRACT_DEFAULTS } from '../../../../src/portico-settings.ts';
import { type Contract, loadContract } from '../../../../src/engine/contract/load-contract.ts';
import type { OverlayAction } from '../../../../src/engine/contract/overlay/read-overlay.ts';
import { contract, example, document } from '../sample.ts';
import { faultsOf, overlayFile } from '../overlay/overlay-file.ts';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contractFolder } from '../../../../src/engine/contract/contract-files.ts';
import { parseWithCache, readSource } from '../../../../src/engine/contract/document/read-document.ts';
import type { OpenApiDocument } from '../../../../src/engine/contract/openapi-document.ts';
import { StartFault } from '../../../../src/engine/model/fault.ts';

const loaded = (...overlays: readonly string[]) => loadContract({ ...CONTRACT_DEFAULTS, overlays });
const withActions = (...actions: readonly OverlayAction[]) => loaded(overlayFile(...actions));

/** Returns the violations found in a question list after the author of its first question is changed. */
function judged(one: Contract, author: Record<string, unknown>, query = '', without: readonly string[] = []): string[] {
  const operation = one.operations.find(({ id }) => id === 'listQuestions');
  const list = example('questions') as { list: Record<string, unknown>[] };
  const changed = (list.list[0]?.['author'] ?? {}) as Record<string, unknown>;
  Object.assign(changed, author);
  for (const name of without) delete changed[name];
  if (operation === undefined) throw new Error('no operation');
  const { values } = one.decodeParameters(operation, { rawParameters: {} }, query);
  const response = { status: 200, mediaType: 'application/json', json: list };
  return one.checkResponse(operation, values, response).violations.map(({ keyword, at }) => `${keyword} ${at}`);
}

/** Returns the categories of the violations that a query for the question list causes. */
function refusals(one: Contract, query: string): string[] {
  const operation = one.operations.find(({ id }) => id === 'listQuestions');
  if (operation === undefined) throw new Error('no operation');
  return one.decodeParameters(operation, { rawParameters: {} }, query).violations.map(({ category }) => category);
}

const AUTHOR = '$.components.schemas.Author';
const PATH = '/services/v2/question/{questionId}.json';
const POINTER = '/actions/0/update/~1services~1v2~1question~1{questionId}.json/get';
const get = (more: Record<string, unknown> = {}, path = PATH): OverlayAction => ({
  target: '$.paths',
  update: {
    [path]: {
      get: {
        operationId: 'getQuestion',
        summary: 'Reads one question',
        'x-provenance': 'inferred',
        'x-credential': 'optional',
        'x-requires': { permission: 'View the question page' },
        'x-items-at': 'body',
        parameters: [
          {
            name: 'questionId',
            in: 'path',
            required: true,
            schema: { type: 'integer', format: 'int64', minimum: 1 },
            'x-provenance': 'inferred',
          },
        ],
        responses: {
          200: {
            description: 'The question',
            'x-provenance': 'inferred',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Question' } } },
          },
          default: { $ref: '#/components/responses/OtherError' },
        },
        ...more,
      },
    },
  },
});

describe('a contract with overlays', () => {
  it('can have an observed operation in the next row of the table', () => {
    const row = contract.operations.filter((one) => one.row !== undefined).length + 1;
    const added = withActions(get({ 'x-provenance': 'observed', 'x-row': row })).operations.filter(
      (one) => one.row === row,
    );
    expect(added).toMatchObject([{ id: 'getQuestion', provenance: 'observed' }]);
  });

  it('has another version but is otherwise unchanged if the overlays change nothing', () => {
    const one = withActions({ target: '$.info', update: {} });
    expect(one.operations).toEqual(contract.operations);
    expect(judged(one, {})).toEqual([]);
    expect(one.version).toMatch(/^[0-9a-f]{12}$/);
    expect(one.version).not.toBe(contract.version);
    expect(withActions({ target: '$.info', update: {} }).version).toBe(one.version);
    expect(withActions({ target: '$.info', update: { title: 'x' } }).version).not.toBe(one.version);
  });

  it('warns of a required field that no schema describes, at its place in the overlay', () => {
    const file = overlayFile({ target: AUTHOR, update: { required: ['usernane'] } });
    const message = expect.stringMatching(/^requires usernane, which no schema describes/) as string;
    expect(loaded(file).warnings).toEqual([
      {
        source: file,
        pointer: expect.stringMatching(/^\/actions\/0\/update/) as string,
        message,
        suggestion: 'username',
      },
    ]);
    expect(withActions({ target: AUTHOR, update: { required: ['username'] } }).warnings).toEqual([]);
  });

  it('warns of a pattern that can block the event loop, at its place in the overlay', () => {
    const update = {
      properties: {
        one: { type: 'string', pattern: '^(?:[a-z]+-?)*$' },
        two: {
          type: 'array',
          items: { anyOf: [{ type: 'string', 'x-expected-pattern': '[0-9]+$' }, { type: 'null' }] },
        },
        linear: { type: 'string', pattern: '^[a-z]+(?:-[a-z]+)*$' },
      },
    };
    const file = overlayFile({ target: AUTHOR, update });
    expect(loaded(file).warnings).toEqual([
      {
        source: file,
        pointer: expect.stringMatching(/^\/actions\/0\/update\/.*one\/pattern$/) as string,
        message: expect.stringContaining('grows exponentially with the length of a text that repeats "a"') as string,
      },
      {
        source: file,
        pointer: expect.stringMatching(/^\/actions\/0\/update\/.*two\/items\/anyOf\/0\/x-expected-pattern$/) as string,
        message: expect.stringContaining('grows at least with the square of the length') as string,
      },
    ]);
  });

  it('warns of a slow pattern of an added parameter', () => {
    const query = "$.paths['/services/v2/question.json'].get.parameters";
    const schema = { type: 'string', maxLength: 50, pattern: '^(a+)+$' };
    const description = 'A tag';
    const file = overlayFile({
      target: query,
      update: { name: 'tag', in: 'query', description, schema, 'x-provenance': 'observed' },
    });
    expect(loaded(file).warnings).toMatchObject([{ source: file, pointer: '/actions/0/update/schema/pattern' }]);
  });

  it('lists its overlays and their warnings', () => {
    const file = overlayFile({ target: '$.components.schemas.Athor', update: {} });
    expect(loaded(file)).toMatchObject({
      overlays: [file],
      warnings: [{ source: file, pointer: '/actions/0/target' }],
    });
    expect(contract).toMatchObject({ overlays: [], warnings: [] });
  });

  it('documents a new field, in complete and in projected responses', () => {
    const one = withActions({ target: `${AUTHOR}.properties`, update: { badge: { type: 'string', maxLength: 4 } } });
    expect(judged(contract, { badge: 'too long' })).not.toContain('maxLength /list/0/author/badge');
    expect(judged(one, { badge: 'gold' })).toEqual([]);
    expect(judged(one, { badge: 'too long' })).toEqual(['maxLength /list/0/author/badge']);
    expect(judged(one, { badge: 'too long' }, 'includeOnly=author')).toContain('maxLength /list/0/author/badge');
  });

  it('limits a field to the values of a list', () => {
    const one = withActions({ target: `${AUTHOR}.properties.username`, update: { enum: ['alice'] } });
    expect(judged(one, { username: 'alice' })).not.toContain('enum /list/0/author/username');
    expect(judged(one, { username: 'mallory' })).toContain('enum /list/0/author/username');
    expect(judged(contract, { username: 'mallory' })).toEqual([]);
  });

  it('adds a required field and removes a requirement', () => {
    const required = withActions({
      target: AUTHOR,
      update: { properties: { badge: { type: 'string' } }, required: ['badge'] },
    });
    expect(judged(required, {})).toContain('required /list/0/author/badge');
    const open = withActions({ target: `${AUTHOR}.required`, remove: true });
    expect(judged(open, {})).toEqual([]);
    expect(judged(contract, {}, '', ['id'])).toEqual(['required /list/0/author/id']);
    expect(judged(open, {}, '', ['id'])).toEqual([]);
  });

  it('forbids undocumented fields of an object', () => {
    const one = withActions({ target: AUTHOR, update: { additionalProperties: false } });
    expect(judged(one, { badge: 1 })).toEqual(['additionalProperties /list/0/author/badge']);
  });

  it('applies the keywords beside the reference of a response', () => {
    const schema = "$.paths['/services/v2/question.json'].get.responses['200'].content['application/json'].schema";
    const one = withActions({
      target: schema,
      update: { type: 'object', properties: { totalCount: { maximum: -1, type: 'integer' } } },
    });
    expect(judged(one, {})).toContain('maximum /totalCount');
  });

  it('documents a new parameter with its type', () => {
    const one = withActions({
      target: "$.paths['/services/v2/question.json'].get.parameters",
      update: { name: 'space', in: 'query', 'x-provenance': 'inferred', 'x-single': true, schema: { type: 'integer' } },
    });
    expect(refusals(contract, 'space=1')).toEqual(['not-allowed']);
    expect(refusals(one, 'space=1')).toEqual([]);
    expect(refusals(one, 'space=x')).toHaveLength(1);
  });

  it('permits a resource to contain itself', () => {
    const one = withActions({
      target: `${AUTHOR}.properties`,
      update: { deputy: { $ref: '#/components/schemas/Author' } },
    });
    const deputy = { id: 1, username: 'x', reputation: 'much' };
    expect(judged(one, { deputy: { ...deputy, reputation: 1, deputy } })).toEqual([
      'type /list/0/author/deputy/deputy/reputation',
    ]);
  });

  it('documents an operation on a new path', () => {
    const one = withActions(get());
    expect(one.operations).toHaveLength(contract.operations.length + 1);
    const match = one.match('/services/v2/question/7.json');
    expect(match?.byMethod.get('GET')).toMatchObject({
      id: 'getQuestion',
      requires: { permission: 'View the question page' },
    });
    expect(one.match('/services/v2/question.json')?.byMethod.get('GET')?.id).toBe('listQuestions');
  });

  it('removes an operation', () => {
    const one = withActions({ target: "$.paths['/services/v2/idea.json']", remove: true });
    expect(contract.match('/services/v2/idea.json')).toBeDefined();
    expect(one.match('/services/v2/idea.json')).toBeUndefined();
    expect(one.operations).toHaveLength(contract.operations.length - 1);
  });

  const refused: readonly [what: string, actions: readonly OverlayAction[], pointer: string, message: string][] = [
    [
      'an operation without x-credential',
      [get({ 'x-credential': undefined })],
      POINTER,
      'requires the key x-credential',
    ],
    ['an unknown extension', [get({ 'x-cash': 1 })], POINTER, 'x-cash is not a known extension here'],
    [
      'an unknown permission',
      [get({ 'x-requires': { permission: 'View the qestion page' } })],
      `${POINTER}/x-requires`,
      'there is no permission called View the qestion page',
    ],
    [
      'an operationId of another operation',
      [get({ operationId: 'listQuestions' })],
      `${POINTER}/operationId`,
      'is used twice',
    ],
    [
      'an operationId that every object inherits',
      [get({ operationId: 'constructor' })],
      `${POINTER}/operationId`,
      'is a reserved name',
    ],
    [
      'a placeholder without a parameter',
      [get({ parameters: [] })],
      POINTER,
      '{questionId} in the path is not listed in the parameters',
    ],
    [
      'pages without the parameters that page bounds know',
      [get({ 'x-paging': { firstPage: 1, hasPageCount: false } })],
      `${POINTER}/x-paging`,
      'needs the query parameter pageSize',
    ],
    [
      'a page count without its member',
      [get({ 'x-paging': { firstPage: 1, hasPageCount: true } })],
      `${POINTER}/x-paging/hasPageCount`,
      'needs the member pageCount in a successful response',
    ],
    [
      'a path that matches the requests of another one',
      [get({}, '/services/v2/comment/{questionId}.json')],
      '/actions/0/update/~1services~1v2~1comment~1{questionId}.json',
      'matches the same requests as /services/v2/comment/{commentId}.json',
    ],
    [
      'a path without a leading slash',
      [get({}, 'question/{questionId}.json')],
      '/actions/0/update/question~1{questionId}.json',
      'must begin with a slash',
    ],
    [
      'a reference to nothing',
      [{ target: `${AUTHOR}.properties`, update: { badge: { $ref: '#/components/schemas/Bagde' } } }],
      '/actions/0/update/badge/$ref',
      'there is no component in schemas called Bagde',
    ],
    [
      'the removal of a referenced component',
      [{ target: '$.components.schemas.Author', remove: true }],
      '/actions/0/remove',
      'there is no component in schemas called Author',
    ],
    [
      'an unknown keyword',
      [{ target: `${AUTHOR}.properties.username`, update: { maxLenght: 3 } }],
      '/actions/0/update/maxLenght',
      'is not a supported schema keyword',
    ],
    [
      'an unknown type',
      [{ target: `${AUTHOR}.properties`, update: { badge: { type: 'text' } } }],
      '/actions/0/update/badge/type',
      'must be string, integer',
    ],
    [
      'an invalid regular expression',
      [{ target: `${AUTHOR}.properties.username`, update: { pattern: '(' } }],
      '/actions/0/update/pattern',
      'must be a regular expression',
    ],
    [
      'a schema that is text',
      [{ target: `${AUTHOR}.properties`, update: { badge: 'text' } }],
      '/actions/0/update/badge',
      'must be a mapping of keys to values or true or false',
    ],
    [
      'a duplicate parameter',
      [
        {
          target: "$.paths['/services/v2/question.json'].get.parameters",
          update: { $ref: '#/components/parameters/page' },
        },
      ],
      '/actions/0/update',
      'page is listed twice in the parameters',
    ],
    [
      'a removal that leaves an operation incomplete',
      [{ target: "$.paths['/services/v2/question.json'].get.responses", remove: true }],
      '/actions/0/remove',
      'requires the key responses',
    ],
    [
      'the removal of an operation that a rule names',
      [{ target: "$.paths['/services/v2/comment/{commentId}.json'].get", remove: true }],
      '/actions/0/remove',
      'there is no operation called getComment',
    ],
    [
      'a schema that refers to itself',
      [{ target: AUTHOR, update: { allOf: [{ $ref: '#/components/schemas/Author' }] } }],
      '/actions/0/update/allOf',
      'refers to itself endlessly',
    ],
    [
      'a schema that refers to itself through another one',
      [
        { target: AUTHOR, update: { anyOf: [{ not: { $ref: '#/components/schemas/Recipient' } }] } },
        { target: '$.components.schemas.Recipient', update: { $ref: '#/components/schemas/Author' } },
      ],
      '/actions/1/update/$ref',
      'refers to itself endlessly',
    ],
    [
      'a parameter that is a reference',
      [{ target: '$.components.parameters.page', update: { $ref: '#/components/parameters/page' } }],
      '/actions/0/update/$ref',
      'must not be a reference',
    ],
    [
      'a resource with the file of another one',
      [
        {
          target: '$.components.schemas',
          update: { author: { type: 'object', description: 'x', 'x-provenance': 'inferred' } },
        },
      ],
      '/actions/0/update/author',
      'differs from Author only in case',
    ],
  ];
  it.each(refused)('refuses %s, at its place in the overlay', (_what, actions, pointer, message) => {
    const file = overlayFile(...actions);
    const faults = faultsOf(() => loaded(file));
    expect(faults).toContainEqual(
      expect.objectContaining({ source: file, pointer, message: expect.stringContaining(message) as string }),
    );
    expect(faults.filter(({ source }) => source !== file)).toEqual([]);
  });

  it('reports the invalid one of several overlays', () => {
    const [good, bad] = [
      overlayFile(get()),
      overlayFile({ target: `$.paths['${PATH}'].get`, update: { 'x-items-at': 'lists' } }),
    ];
    expect(faultsOf(() => loaded(good, bad))).toMatchObject([{ source: bad, pointer: '/actions/0/update/x-items-at' }]);
    expect(faultsOf(() => loaded(bad, good))).toEqual([]);
  });
});

const contractSource = readSource(contractFolder());
// The document is small because nearly every test parses it more than once.
const source = {
  text: 'openapi: 3.1.0\ninfo:\n  title: small\n  # a comment\n  version: 1.0.0\n',
  extensions: '{ "type": "object" }',
};
const folders: string[] = [];
afterEach(() => {
  vi.restoreAllMocks();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Returns a path inside a temporary folder. No folder exists at that path yet. */
function newFolder(): string {
  const parent = mkdtempSync(join(tmpdir(), 'portico-document-'));
  folders.push(parent);
  return join(parent, 'contract');
}

const filesIn = (folder: string) => readdirSync(folder).map((name) => join(folder, name));

/** Replaces the only stored document with a different document that has a correct checksum. */
function plant(folder: string): void {
  const [file = ''] = filesIn(folder);
  const other = newFolder();
  parseWithCache({ ...source, text: PLANTED }, other);
  writeFileSync(file, readFileSync(filesIn(other)[0] ?? ''));
}

const PLANTED = source.text.replace('small', 'planted');
const titleOf = (parsed: OpenApiDocument) => (parsed as unknown as { info: { title: string } }).info.title;
const titleFrom = (folder: string | undefined) => titleOf(parseWithCache(source, folder));

describe('a parsed document', () => {
  it('is equal to the YAML, on the first start and on the next', () => {
    const folder = newFolder();
    expect(parseWithCache(contractSource, folder)).toEqual(document);
    expect(filesIn(folder)).toHaveLength(1);
    expect(JSON.stringify(parseWithCache(contractSource, folder))).toBe(JSON.stringify(document));
  });

  it('is read from the folder instead of the YAML', () => {
    const folder = newFolder();
    parseWithCache(source, folder);
    plant(folder);
    expect(titleFrom(folder)).toBe('planted');
  });

  it.each([
    ['the document', { ...source, text: source.text.replace('1.0.0', '1.0.1') }],
    ['a comment of the document', { ...source, text: `${source.text}# changed\n` }],
    ['the schema of its extensions', { ...source, extensions: `${source.extensions} ` }],
  ])('is not read for another source: changed %s', (_what, changed) => {
    const folder = newFolder();
    parseWithCache(source, folder);
    plant(folder);
    expect(titleOf(parseWithCache(changed, folder))).toBe('small');
    expect(filesIn(folder)).toHaveLength(2);
  });

  it.each([
    ['cut short', (text: string) => text.slice(0, -20)],
    ['empty', () => ''],
    ['something else', () => 'null'],
    ['changed in one character', (text: string) => text.replace('small', 'smart')],
  ])('is ignored and stored again when its file is %s', (_what, damage) => {
    const folder = newFolder();
    parseWithCache(source, folder);
    const [file = ''] = filesIn(folder);
    const whole = readFileSync(file, 'utf8');
    writeFileSync(file, damage(whole));
    expect(titleFrom(folder)).toBe('small');
    expect(readFileSync(file, 'utf8')).toBe(whole);
  });

  it("is stored in Node's compile cache, and not stored without that cache", () => {
    const { NODE_DISABLE_COMPILE_CACHE: _off, ...env } = process.env;
    const storedWith = (more: Readonly<Record<string, string>>) => {
      const url = new URL('../../../../src/engine/contract/document/read-document.ts', import.meta.url).href;
      const script = `import { parseWithCache } from '${url}'; parseWithCache(${JSON.stringify(source)})`;
      const args = ['--input-type=module', '--eval', script];
      const folder = newFolder();
      const options = { env: { ...env, NODE_COMPILE_CACHE: folder, ...more } };
      expect(spawnSync(process.execPath, args, options).status).toBe(0);
      const files = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
      return files.filter((name) => name.endsWith('.json'));
    };
    expect(storedWith({})).toEqual([expect.stringMatching(/^[^/]+\/contract\/[0-9a-f]+\.json$/)]);
    expect(storedWith({ NODE_DISABLE_COMPILE_CACHE: '1' })).toEqual([]);
  });

  it('is not stored if its source has a configuration error', () => {
    const folder = newFolder();
    expect(() => parseWithCache({ ...source, text: '[]' }, folder)).toThrow(StartFault);
    expect(() => readdirSync(folder)).toThrow('ENOENT');
  });

  it('is parsed without an error if the folder cannot be created', () => {
    const folder = newFolder();
    writeFileSync(folder, 'a file');
    expect(titleFrom(folder)).toBe('small');
    expect(readFileSync(folder, 'utf8')).toBe('a file');
  });

  it('is readable for its owner only', () => {
    const folder = newFolder();
    parseWithCache(source, folder);
    expect([folder, ...filesIn(folder)].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
  });

  it('replaces the oldest of sixteen stored documents', () => {
    const folder = newFolder();
    mkdirSync(folder, { mode: 0o700 });
    for (let age = 1; age <= 16; age += 1) {
      const old = join(folder, `${age}.json`);
      writeFileSync(old, '');
      utimesSync(old, Date.now() / 1000 - age * 60, Date.now() / 1000 - age * 60);
    }
    parseWithCache(source, folder);
    const names = readdirSync(folder);
    expect(names).toHaveLength(16);
    expect(names).not.toContain('16.json');
    expect(names).toContain('15.json');
  });
});

// The attack: the cached document determines what the gateway checks. In a shared folder, another user on the machine
// creates the files before Portico does, or changes files that Portico has stored. The checksum offers no protection,
// because it is not a secret.
describe('a parsed document that another user may have written', () => {
  const stored = () => {
    const folder = newFolder();
    parseWithCache(source, folder);
    plant(folder);
    return folder;
  };

  it.each([
    ['its folder is writable by everyone', (folder: string) => chmodSync(folder, 0o777)],
    ['its folder is writable by a group', (folder: string) => chmodSync(folder, 0o770)],
    ['its file is writable by everyone', (folder: string) => chmodSync(filesIn(folder)[0] ?? '', 0o666)],
    [
      'its file is a link',
      (folder: string) => {
        const [file = ''] = filesIn(folder);
        const elsewhere = join(folder, '..', 'elsewhere.json');
        writeFileSync(elsewhere, readFileSync(file));
        rmSync(file);
        symlinkSync(elsewhere, file);
      },
    ],
  ])('is ignored: %s', (_what, open) => {
    const folder = stored();
    open(folder);
    expect(titleFrom(folder)).toBe('small');
  });

  it('is ignored if its folder is a link', () => {
    const folder = stored();
    const link = newFolder();
    symlinkSync(folder, link);
    expect(titleFrom(link)).toBe('small');
  });

  it('is ignored if it belongs to another user', () => {
    const folder = stored();
    expect(titleFrom(folder)).toBe('planted');
    const own = process.geteuid?.() ?? 0;
    vi.spyOn(process, 'geteuid').mockReturnValue(own + 1);
    expect(titleFrom(folder)).toBe('small');
  });
});
