import { describe, expect, it } from 'vitest';
import { CONTRACT_DEFAULTS } from '../../../src/contract/contract-options.ts';
import type { Contract } from '../../../src/contract/contract.ts';
import { loadContract } from '../../../src/contract/load-contract.ts';
import type { OverlayAction } from '../../../src/contract/overlay/read-overlay.ts';
import { contract, example } from '../sample.ts';
import { faultsOf, overlayFile } from '../overlay/overlay-file.ts';

const loaded = (...overlays: readonly string[]) => loadContract({ ...CONTRACT_DEFAULTS, overlays });
const withActions = (...actions: readonly OverlayAction[]) => loaded(overlayFile(...actions));

/** What a contract says of a question list whose first author is changed. */
function judged(one: Contract, author: Record<string, unknown>, query = '', without: readonly string[] = []): string[] {
  const operation = one.operations.find(({ id }) => id === 'listQuestions');
  const list = example('questions') as { list: Record<string, unknown>[] };
  const changed = (list.list[0]?.['author'] ?? {}) as Record<string, unknown>;
  Object.assign(changed, author);
  for (const name of without) delete changed[name];
  if (operation === undefined) throw new Error('no operation');
  const { values } = one.decodeParameters(operation, { rawParameters: {} }, query);
  const answer = { status: 200, mediaType: 'application/json', json: list };
  return one.judgeResponse(operation, values, answer).violations.map(({ keyword, at }) => `${keyword} ${at}`);
}

/** The categories of what a contract says of a query of the question list. */
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
  it('is the contract as it was when they change nothing, under another version', () => {
    const one = withActions({ target: '$.info', update: {} });
    expect(one.operations).toEqual(contract.operations);
    expect(judged(one, {})).toEqual([]);
    expect(one.version).toMatch(/^[0-9a-f]{12}$/);
    expect(one.version).not.toBe(contract.version);
    expect(withActions({ target: '$.info', update: {} }).version).toBe(one.version);
    expect(withActions({ target: '$.info', update: { title: 'x' } }).version).not.toBe(one.version);
  });

  it('knows its overlays and what is odd about them', () => {
    const file = overlayFile({ target: '$.components.schemas.Athor', update: {} });
    expect(loaded(file)).toMatchObject({
      overlays: [file],
      warnings: [{ source: file, pointer: '/actions/0/target' }],
    });
    expect(contract).toMatchObject({ overlays: [], warnings: [] });
  });

  it('documents a field, in the whole answer and in a projected one', () => {
    const one = withActions({ target: `${AUTHOR}.properties`, update: { badge: { type: 'string', maxLength: 4 } } });
    expect(judged(contract, { badge: 'too long' })).not.toContain('maxLength /list/0/author/badge');
    expect(judged(one, { badge: 'gold' })).toEqual([]);
    expect(judged(one, { badge: 'too long' })).toEqual(['maxLength /list/0/author/badge']);
    expect(judged(one, { badge: 'too long' }, 'includeOnly=author')).toContain('maxLength /list/0/author/badge');
  });

  it('tightens a value to those of a list', () => {
    const one = withActions({ target: `${AUTHOR}.properties.username`, update: { enum: ['alice'] } });
    expect(judged(one, { username: 'alice' })).not.toContain('enum /list/0/author/username');
    expect(judged(one, { username: 'mallory' })).toContain('enum /list/0/author/username');
    expect(judged(contract, { username: 'mallory' })).toEqual([]);
  });

  it('requires a field, and takes a requirement away', () => {
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

  it('closes an object against fields that are not documented', () => {
    const one = withActions({ target: AUTHOR, update: { additionalProperties: false } });
    expect(judged(one, { badge: 1 })).toEqual(['additionalProperties /list/0/author/badge']);
  });

  it('keeps to what an answer says beside the resource that it points to', () => {
    const schema = "$.paths['/services/v2/question.json'].get.responses['200'].content['application/json'].schema";
    const one = withActions({
      target: schema,
      update: { type: 'object', properties: { totalCount: { maximum: -1, type: 'integer' } } },
    });
    expect(judged(one, {})).toContain('maximum /totalCount');
  });

  it('documents a parameter, with its type', () => {
    const one = withActions({
      target: "$.paths['/services/v2/question.json'].get.parameters",
      update: { name: 'space', in: 'query', 'x-provenance': 'inferred', 'x-single': true, schema: { type: 'integer' } },
    });
    expect(refusals(contract, 'space=1')).toEqual(['undocumented']);
    expect(refusals(one, 'space=1')).toEqual([]);
    expect(refusals(one, 'space=x')).toHaveLength(1);
  });

  it('lets a resource hold others of its kind', () => {
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
      "must have required property 'x-credential'",
    ],
    ['an extension nobody knows', [get({ 'x-cash': 1 })], POINTER, 'x-cash is no extension known here'],
    [
      'a permission nobody has',
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
      'an operationId that every object has',
      [get({ operationId: 'constructor' })],
      `${POINTER}/operationId`,
      'is a name that means something else',
    ],
    [
      'a placeholder without a parameter',
      [get({ parameters: [] })],
      POINTER,
      '{questionId} of the path is not among the parameters',
    ],
    [
      'a path that is another one',
      [get({}, '/services/v2/comment/{questionId}.json')],
      '/actions/0/update/~1services~1v2~1comment~1{questionId}.json',
      'takes the requests of /services/v2/comment/{commentId}.json',
    ],
    [
      'a path without its slash',
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
      'the removal of what others point to',
      [{ target: '$.components.schemas.Author', remove: true }],
      '/actions/0/remove',
      'there is no component in schemas called Author',
    ],
    [
      'a keyword nobody knows',
      [{ target: `${AUTHOR}.properties.username`, update: { maxLenght: 3 } }],
      '/actions/0/update/maxLenght',
      'is no keyword of schemas here',
    ],
    [
      'a type nobody knows',
      [{ target: `${AUTHOR}.properties`, update: { badge: { type: 'text' } } }],
      '/actions/0/update/badge/type',
      'must be string, integer',
    ],
    [
      'an expression that is none',
      [{ target: `${AUTHOR}.properties.username`, update: { pattern: '(' } }],
      '/actions/0/update/pattern',
      'must be a regular expression',
    ],
    [
      'a schema that is text',
      [{ target: `${AUTHOR}.properties`, update: { badge: 'text' } }],
      '/actions/0/update/badge',
      'must be object,boolean',
    ],
    [
      'a requirement of nothing',
      [{ target: AUTHOR, update: { required: ['bagde'] } }],
      '/actions/0/update',
      'required property "bagde" is not defined',
    ],
    [
      'a parameter twice',
      [
        {
          target: "$.paths['/services/v2/question.json'].get.parameters",
          update: { $ref: '#/components/parameters/page' },
        },
      ],
      '/actions/0/update',
      'page is among the parameters twice',
    ],
    [
      'a removal that leaves an operation half',
      [{ target: "$.paths['/services/v2/question.json'].get.responses", remove: true }],
      '/actions/0/remove',
      "must have required property 'responses'",
    ],
    [
      'the removal of an operation that a rule names',
      [{ target: "$.paths['/services/v2/comment/{commentId}.json'].get", remove: true }],
      '/actions/0/remove',
      'there is no operation called getComment',
    ],
    [
      'a schema that is judged by itself',
      [{ target: AUTHOR, update: { allOf: [{ $ref: '#/components/schemas/Author' }] } }],
      '/actions/0/update/allOf',
      'is judged by itself again, without end',
    ],
    [
      'a schema that is judged by itself in a roundabout way',
      [
        { target: AUTHOR, update: { anyOf: [{ not: { $ref: '#/components/schemas/Recipient' } }] } },
        { target: '$.components.schemas.Recipient', update: { $ref: '#/components/schemas/Author' } },
      ],
      '/actions/1/update/$ref',
      'is judged by itself again, without end',
    ],
    [
      'a parameter that is a reference',
      [{ target: '$.components.parameters.page', update: { $ref: '#/components/parameters/page' } }],
      '/actions/0/update/$ref',
      'must be written here, not be a reference',
    ],
    [
      'a resource whose file is another one',
      [
        {
          target: '$.components.schemas',
          update: { author: { type: 'object', description: 'x', 'x-provenance': 'inferred' } },
        },
      ],
      '/actions/0/update/author',
      'is the same name as Author but for upper and lower case',
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

  it('names of several overlays the one that is wrong', () => {
    const [good, bad] = [
      overlayFile(get()),
      overlayFile({ target: `$.paths['${PATH}'].get`, update: { 'x-items-at': 'lists' } }),
    ];
    expect(faultsOf(() => loaded(good, bad))).toMatchObject([{ source: bad, pointer: '/actions/0/update/x-items-at' }]);
    expect(faultsOf(() => loaded(bad, good))).toEqual([]);
  });
});
