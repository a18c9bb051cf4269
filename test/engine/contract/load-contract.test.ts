import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { PROFILE } from '../../../src/profile/profile.ts';
import { contractFolder } from '../../../src/engine/contract/contract-files.ts';
import { CONTRACT_DEFAULTS } from '../../../src/portico-settings.ts';
import { loadContract, loadOperations } from '../../../src/engine/contract/load-contract.ts';
import { DEFAULT_JSON_LIMITS } from '../../../src/lib/bounded-json.ts';
import { StartFault, type Fault } from '../../../src/engine/model/fault.ts';
import { createScanResponse } from '../../../src/engine/pipeline/scan-response.ts';
import { openScanner } from '../../../src/engine/scanner/open-scanner.ts';
import { exampleOf } from '../../builders/contract-examples.ts';
import { contract, example, operation } from './sample.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Copies the contract without its generated schemas, and changes the document. Returns the path of the copy. */
function copy(change: (text: string) => string = (text) => text): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-contract-'));
  folders.push(folder);
  const original = contractFolder();
  copyFileSync(join(original, 'vendor-extensions.schema.json'), join(folder, 'vendor-extensions.schema.json'));
  writeFileSync(join(folder, 'openapi.yaml'), change(readFileSync(join(original, 'openapi.yaml'), 'utf8')));
  return folder;
}

function faultsOf(folder: string): readonly Fault[] {
  try {
    loadContract({ ...CONTRACT_DEFAULTS, folder });
  } catch (error) {
    if (error instanceof StartFault) return error.faults;
    throw error;
  }
  return [];
}

describe('loading the contract', () => {
  it('returns a version that depends on the document and the schemas', () => {
    expect(contract.version).toMatch(/^[0-9a-f]{12}$/);
    expect(loadContract({ ...CONTRACT_DEFAULTS, folder: copy() }).version).toBe(contract.version);
    expect(loadContract({ ...CONTRACT_DEFAULTS, folder: copy((text) => `${text}\n# a word\n`) }).version).not.toBe(
      contract.version,
    );
  });

  it.each([true, false])(
    'finds the same operations without compiling schemas, including inferred ones: %s',
    (inferred) => {
      const options = { ...CONTRACT_DEFAULTS, inferred };
      expect(loadOperations(options)).toEqual(loadContract(options).operations);
    },
  );

  it("names a configuration error in the operator's own folder in both cases", () => {
    const folder = copy((text) => text.replace('operationId: listIdeas', 'operationId: listQuestions'));
    const [fault] = faultsOf(folder);
    expect(fault?.source).toContain(folder);
    expect(() => loadOperations({ ...CONTRACT_DEFAULTS, folder })).toThrow(
      new StartFault(fault ? [fault] : []).message,
    );
  });

  it('is compiled once while it is used, and again once a file or an option has changed', () => {
    const folder = copy();
    const options = { ...CONTRACT_DEFAULTS, folder };
    const first = loadContract(options);
    expect(loadContract({ ...options })).toBe(first);
    expect(loadContract({ ...options, maxCollected: 3 })).not.toBe(first);
    const file = join(folder, 'openapi.yaml');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('title:', 'title: Changed'));
    expect(loadContract(options)).not.toBe(first);
    writeFileSync(file, text);
    expect(loadContract(options)).toBe(first);
    expect(loadContract({ ...options, rules: { ...PROFILE } })).not.toBe(first);
  });

  it('compiles operations to plain data', () => {
    expect(structuredClone(contract.operations)).toEqual(contract.operations);
  });

  it('throws for an operation that is not in the contract', () => {
    expect(() => contract.validators('nothing')).toThrow('no operation nothing');
  });

  it('reports the place of invalid YAML', () => {
    const folder = copy((text) => text.replace('info:', 'info: ['));
    const faults = faultsOf(folder);
    expect(faults).toEqual([
      {
        source: `${join(folder, 'openapi.yaml')}:3`,
        pointer: '',
        message: 'has a key without a colon or on several lines, or an earlier bracket is not closed',
      },
    ]);
  });

  it.each(['', '[]', 'null', 'just text'])('reports that %j is not a contract', (text) => {
    expect(faultsOf(copy(() => text))).toMatchObject([{ pointer: '', message: 'must be a mapping of keys to values' }]);
  });

  const cases: readonly [name: string, from: string, to: string, fault: Partial<Fault>][] = [
    [
      'an unknown extension',
      'x-cache:',
      'x-cash:',
      { message: 'x-cash is not a known extension here', suggestion: 'x-cache' },
    ],
    ['an invalid extension of a field', 'x-pii: ip', 'x-pi: ip', { suggestion: 'x-pii' }],
    ['an unknown provenance', 'x-provenance: observed', 'x-provenance: seen', {}],
    ['a reference to nothing', "schemas/QuestionList'", "schemas/QuestionLst'", { suggestion: 'QuestionList' }],
    [
      'an unknown permission',
      'permission: View list idea',
      'permission: View list ideas',
      { suggestion: 'View list idea' },
    ],
    ['an unknown group', 'group: Super Users', 'group: Super User', { suggestion: 'Super Users' }],
    ['an unknown flag', 'flag: superuser', 'flag: superusr', { suggestion: 'superuser' }],
    ['an unknown semantic rule', 'space-filter', 'space-fliter', { suggestion: 'space-filter' }],
    ['an unknown request rule', 'gdpr-csv', 'gdpr-cvs', { suggestion: 'gdpr-csv' }],
    [
      'a request rule that never runs, because the operation has no body',
      'x-semantic-rules: [executions-when-finished]',
      'x-request-rules: [gdpr-csv]',
      { message: 'has no effect, because the operation has no requestBody' },
    ],
    ['a placeholder without a parameter', "'group:{groupId}'", "'group:{gruopId}'", { suggestion: 'groupId' }],
    ['a path parameter without a placeholder', 'group/{groupId}/user', 'group/7/user', {}],
    [
      'an operationId that is used twice',
      'operationId: listIdeas',
      'operationId: listQuestions',
      { message: 'is used twice' },
    ],
    ['an undocumented method', '    get:', '    delete:', { message: 'delete is not allowed here' }],
  ];
  it.each(cases)('reports %s', (_name, from, to, fault) => {
    const folder = copy((text) => text.replace(from, () => to));
    const faults = faultsOf(folder);
    expect(faults[0]).toMatchObject({ source: join(folder, 'openapi.yaml'), ...fault });
    expect(faults[0]?.pointer).toMatch(/^\//);
  });

  it('reports all configuration errors in one run', () => {
    const faults = faultsOf(
      copy((text) => text.replace('space-filter', 'x-filter').replace('permission: View list idea', 'permission: X')),
    );
    expect(faults).toHaveLength(2);
  });

  it('generates its schemas from the document and ignores the generated files', () => {
    const folder = copy();
    mkdirSync(join(folder, 'resources'));
    writeFileSync(join(folder, 'resources/topic.schema.json'), '{');
    writeFileSync(join(folder, 'resources/idea-list.schema.json'), '{"not":{}}');
    const loaded = loadContract({ ...CONTRACT_DEFAULTS, folder });
    expect(loaded.version).toBe(contract.version);
    const { values } = loaded.decodeParameters(operation('listIdeas'), { rawParameters: {} }, undefined);
    const response = { status: 200, mediaType: 'application/json', json: example('ideas') };
    expect(loaded.checkResponse(operation('listIdeas'), values, response).violations).toEqual([]);
  });

  it('reports the place of an invalid schema in the document', () => {
    const keyword = copy((text) => text.replace('      maxLength: 2000\n', '      maxLenght: 2000\n'));
    expect(faultsOf(keyword)).toMatchObject([
      { source: join(keyword, 'openapi.yaml'), pointer: expect.stringMatching(/maxLenght$/) as string },
    ]);
  });

  it('permits alternatives that require fields described elsewhere, and requirements without a description', () => {
    const schema = '{ required: [id, anything], anyOf: [{ required: [username] }, { required: [reputation] }] }';
    const folder = copy((text) =>
      text.replaceAll(
        "author: { $ref: '#/components/schemas/Author'",
        `author: { allOf: [${schema}], $ref: '#/components/schemas/Author'`,
      ),
    );
    const custom = loadContract({ ...CONTRACT_DEFAULTS, folder });
    expect(custom.warnings).toContainEqual({
      source: join(folder, 'openapi.yaml'),
      pointer: '/components/schemas/Topic/properties/author/allOf/0/required',
      message: 'requires anything, which no schema describes',
    });
    const one = custom.operations.find(({ id }) => id === 'getComment');
    if (one === undefined) throw new Error('the contract has no comment');
    const { values } = custom.decodeParameters(one, { rawParameters: { commentId: '271' } }, undefined);
    const scan = createScanResponse(custom, openScanner(DEFAULT_JSON_LIMITS), PROFILE.items);
    const verdict = (author: object) => {
      const json = { ...exampleOf('getComment'), author };
      const head = { status: 200, mediaType: 'application/json' };
      expect(scan(one, values, { ...head, bytes: Buffer.from(JSON.stringify(json)) })).toBeUndefined();
      return custom.checkResponse(one, values, { ...head, json }).violations.map(({ keyword }) => keyword);
    };
    expect(verdict({ id: 1, anything: 1, username: 'x' })).toEqual([]);
    expect(verdict({ id: 1, anything: 1 })).toEqual(['anyOf']);
    expect(verdict({ id: 1, username: 'x' })).toEqual(['required']);
  });

  it.each([
    ['a part of a resource', '{ $ref: "#/components/schemas/Idea/properties/User" }', /author\/\$ref$/],
    ['a conditional schema', '{ if: { required: [id] } }', /author\/if$/],
    ['dependent fields', '{ dependentRequired: { id: [username] } }', /author\/dependentRequired$/],
    ['patterns of names', '{ patternProperties: { "^x": {} } }', /author\/patternProperties$/],
    ['OpenAPI 3.0', '{ type: object, nullable: true }', /author\/nullable$/],
    ['an unknown extension in an alternative', '{ oneOf: [{ x-unknown: 1 }] }', /author\/oneOf\/0$/],
  ])('reports the place of a schema with %s', (_, schema, pointer) => {
    const folder = copy((text) =>
      text.replace(/author: \{ \$ref: '#\/components\/schemas\/Author'[^}]*\}/, `author: ${schema}`),
    );
    expect(faultsOf(folder)).toEqual([expect.objectContaining({ pointer: expect.stringMatching(pointer) as string })]);
  });

  it('reports a folder without a contract', () => {
    const empty = mkdtempSync(join(tmpdir(), 'portico-contract-'));
    folders.push(empty);
    expect(faultsOf(empty)).toMatchObject([{ message: 'cannot be read: there is no such file or folder (ENOENT)' }]);
  });
});
