import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { contractFolder, type ResponseVariant } from '../src/engine/contract/contract-files.ts';
import {
  type MediaTypeObject,
  type OperationObject,
  type ParameterObject,
  resolve,
  type ResponseObject,
  type SchemaObject,
  type SchemaOrBoolean,
} from '../src/engine/contract/openapi-document.ts';
import type { Requirement } from '../src/engine/model/operation.ts';
import { OPERATIONS } from './builders/operations.ts';
import { contract, document, judge, operation } from './engine/contract/sample.ts';

interface Place {
  readonly path: string;
  readonly method: string;
  readonly source: OperationObject;
}

const places: Place[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, source]) => ({ path, method, source })),
);
const parametersOf = (source: OperationObject) =>
  (source.parameters ?? []).map((place) => resolve<ParameterObject>(document, 'parameters', place));
const responsesOf = (source: OperationObject) =>
  Object.entries(source.responses).map(
    ([status, place]) => [status, resolve<ResponseObject>(document, 'responses', place)] as const,
  );
const examplesOf = (media: MediaTypeObject) =>
  Object.entries(media.examples ?? {}).map(
    ([name, place]) => [name, resolve<{ value: unknown }>(document, 'examples', place).value] as const,
  );

const sourceOf = (id: string) => {
  const found = places.find(({ source }) => source.operationId === id);
  if (!found) throw new Error(`no operation ${id}`);
  return found.source;
};

const kinds = (tags: readonly string[]) => tags.map((tag) => tag.replace(/\{.*\}/, '*'));
const permissionsOf = (category: string | undefined) =>
  contract.permissions.filter((one) => one.category === category).map(({ name }) => name);

/** Returns the extension names that occur in a string. */
const namesIn = (source: string) => new Set(source.match(/\bx-[a-z]+(?:-[a-z]+)*(?=["'`:])/g));

/** Returns all schemas in the document, each with the name of the field or resource that it describes. */
function fields(): { name: string; schema: SchemaObject }[] {
  const found: { name: string; schema: SchemaObject }[] = [];
  const visit = (name: string, schema: SchemaOrBoolean) => {
    if (typeof schema === 'boolean') return;
    found.push({ name, schema });
    for (const [child, property] of Object.entries(schema.properties ?? {})) visit(child, property);
    for (const part of [schema.items ?? true, ...(schema.allOf ?? []), ...(schema.anyOf ?? [])]) visit('', part);
  };
  for (const [name, schema] of Object.entries(document.components.schemas)) visit(name, schema);
  return found;
}

/** The operations of the specification's table. Its rows, and the rules about them, are known for sure. */
const TABLE = contract.operations.filter(({ row }) => row !== undefined);

describe('the operations of the contract', () => {
  // Many tests iterate over these cases, so all of them would skip an operation that has no case.
  it('are those of test/builders/operations.ts', () => {
    const line = (id: string, method: string, isInferred: boolean) =>
      `${method} ${id}${isInferred ? ', inferred' : ''}`;
    const known = contract.operations.map(({ id, method, provenance }) => line(id, method, provenance === 'inferred'));
    const cases = OPERATIONS.map(({ id, method, inferred }) => line(id, method, inferred === true));
    expect(cases.toSorted()).toEqual(known.toSorted());
  });

  it('include those of the table, in its order', () => {
    expect(TABLE.map(({ id, row, method, path }) => [row, id, method, path])).toEqual([
      [1, 'uploadGdprFile', 'POST', '/services/v2/users/gdpr/upload.json'],
      [2, 'getGdprJob', 'GET', '/services/v2/jobs/gdpr/{jobId}.json'],
      [3, 'copyAttachments', 'POST', '/services/v2/issuetracker/node/{nodeId}/issue/{issueId}/attachments.json'],
      [4, 'getComment', 'GET', '/services/v2/comment/{commentId}.json'],
      [5, 'listNodeComments', 'GET', '/services/v2/node/{nodeId}/comment.json'],
      [6, 'listQuestions', 'GET', '/services/v2/question.json'],
      [7, 'listActions', 'GET', '/services/v2/action.json'],
      [8, 'listIdeas', 'GET', '/services/v2/idea.json'],
      [9, 'listGroupUsers', 'GET', '/services/v2/group/{groupId}/user.json'],
      [10, 'listTopicFollowers', 'GET', '/services/v2/topic/{topicId}/followers.json'],
      [11, 'unmarkFavorite', 'PUT', '/services/v2/node/{nodeId}/unmarkfavorite.json'],
      [12, 'cancelWiki', 'PUT', '/services/v2/node/{nodeId}/cancelwiki.json'],
      [13, 'listArticles', 'GET', '/services/v2/article.json'],
      [14, 'listNodeFollowers', 'GET', '/services/v2/node/{nodeId}/followers.json'],
      [15, 'listExpertise', 'GET', '/services/v2/user/{userId}/expertise.json'],
      [16, 'listAnswerComments', 'GET', '/services/v2/answer/{answerId}/comment.json'],
    ]);
  });

  it('accept the parameters of the table', () => {
    const paging = ['page', 'pageSize', 'sort'];
    const projection = ['include', 'exclude', 'includeOnly'];
    const search = ['q', 'type', 'lang'];
    const other = ['wrap', 'v1'];
    const follow = ['details', 'active'];
    const expected: Record<string, string[]> = {
      uploadGdprFile: [],
      getGdprJob: [],
      copyAttachments: [],
      getComment: [...projection, ...other],
      listNodeComments: [],
      listQuestions: ['topics', 'unanswered', 'spaceId', ...paging, ...search, ...projection, ...other],
      listActions: [...paging, ...projection, ...other],
      listIdeas: [...search, ...projection, ...paging, ...other],
      listGroupUsers: [...paging, ...projection, ...other],
      listTopicFollowers: [...follow, ...paging, ...projection, ...other],
      unmarkFavorite: ['wrap'],
      cancelWiki: ['wrap'],
      listArticles: [...paging, ...projection, ...other],
      listNodeFollowers: [...follow, ...paging, ...projection, ...other],
      listExpertise: ['page', 'pageSize', ...other],
      listAnswerComments: ['page', 'pageSize', ...other],
    };
    for (const { id, parameters } of TABLE) {
      const query = parameters.filter(({ location }) => location === 'query').map(({ name }) => name);
      expect([id, query.toSorted()]).toEqual([id, expected[id]?.toSorted()]);
    }
  });

  it('require the permissions that section 3 of the rules defines', () => {
    const read: Requirement = {
      all: [{ permission: 'View answers in the question page' }, { permission: 'View the question page' }],
    };
    const expected: Record<string, Requirement | undefined> = {
      uploadGdprFile: { any: [{ flag: 'admin' }, { flag: 'superuser' }] },
      getGdprJob: undefined,
      copyAttachments: { permission: 'Add attachments to issues' },
      getComment: read,
      listNodeComments: read,
      listQuestions: { permission: 'View the questions list' },
      listActions: { all: [{ permission: 'View analytics' }, { group: 'Super Users' }] },
      listIdeas: { permission: 'View list idea' },
      listGroupUsers: { permission: 'Edit users and groups' },
      listTopicFollowers: { permission: 'View users list' },
      unmarkFavorite: { all: [{ permission: 'Mark as favorite' }, { permission: 'View the question page' }] },
      cancelWiki: {
        any: [{ permission: 'Mark as community wiki' }, { own: { permission: 'Convert own posts to community wiki' } }],
      },
      listArticles: { permission: 'View list kbentry' },
      listNodeFollowers: { permission: 'View users list' },
      listExpertise: { permission: "View user's profile" },
      listAnswerComments: read,
      updateComment: { own: read },
      createComment: read,
    };
    for (const { id, requires } of contract.operations.filter((one) => TABLE.includes(one) || one.id in expected))
      expect([id, requires]).toEqual([id, expected[id]]);
  });

  it('have the known versions in which they were added', () => {
    const since = Object.fromEntries(contract.operations.map((one) => [one.id, one.since]));
    expect(
      Object.keys(since)
        .filter((id) => since[id] === '1.6.3')
        .toSorted(),
    ).toEqual([
      'cancelWiki',
      'listAnswerComments',
      'listArticles',
      'listExpertise',
      'listGroupUsers',
      'listNodeFollowers',
      'listQuestions',
      'listTopicFollowers',
      'unmarkFavorite',
    ]);
    expect(since['listIdeas']).toBe('1.6.3.5');
    const fresh = fields().filter(({ schema }) => schema['x-since'] === '2.16.0');
    expect(new Set(fresh.map(({ name }) => name))).toEqual(new Set(['visibility', 'recipients']));
  });

  it('need a credential where section 2 of the rules says so', () => {
    expect(contract.operations.filter(({ needsCredential }) => needsCredential).map(({ id }) => id)).toEqual([
      'uploadGdprFile',
      'getGdprJob',
      'copyAttachments',
      'unmarkFavorite',
      'cancelWiki',
      'updateComment',
      'createComment',
    ]);
  });

  it('permit a service account only for lists without private fields', () => {
    const impersonal = contract.operations.filter(({ identityIndependent }) => identityIndependent);
    expect(impersonal.flatMap(({ row }) => row ?? [])).toEqual([6, 8, 9, 10, 13, 14, 15]);
    for (const one of impersonal) {
      expect(one.method).toBe('GET');
      expect(one.privateFields).toBeUndefined();
      expect(one.needsCredential).toBe(false);
    }
  });

  it('are cacheable where section 6 of the rules says so, and each page has a tag', () => {
    const kept = TABLE.filter(({ cacheability }) => cacheability?.byDefault).map(({ row }) => row);
    expect(kept).toEqual([6, 8, 9, 10, 13, 14, 15, 16]);
    const optional = TABLE.filter(({ cacheability }) => cacheability?.byDefault === false);
    expect(optional.map(({ row }) => row)).toEqual([5, 7]);
    for (const { method, cacheability } of contract.operations) if (cacheability) expect(method).toBe('GET');
  });

  it('purge only tags that some stored page can have', () => {
    const known = new Set(contract.operations.flatMap(({ cacheability }) => kinds(cacheability?.tags ?? [])));
    for (const { id, purges } of contract.operations)
      for (const kind of kinds(purges)) expect([id, kind, known.has(kind)]).toEqual([id, kind, true]);
    const purging = contract.operations.filter(({ purges }) => purges.length > 0).map(({ id }) => id);
    expect(purging).toEqual(['uploadGdprFile', 'unmarkFavorite', 'cancelWiki', 'updateComment', 'createComment']);
  });

  it('have page bounds if they accept a page, and page 0 first for followers only', () => {
    for (const { id, paging, parameters, row } of contract.operations) {
      expect([id, paging !== undefined]).toEqual([id, parameters.some(({ name }) => name === 'page')]);
      if (paging) expect([id, paging.firstPage]).toEqual([id, row === 10 || row === 14 ? 0 : 1]);
      if (paging) expect([id, paging.hasPageCount]).toEqual([id, row !== 7]);
    }
    const sizes = TABLE.map(({ row, paging }) => [row, paging?.observedPageSize] as const);
    expect(sizes.filter(([, size]) => size !== undefined)).toEqual([
      [7, 20],
      [8, 15],
      [9, 35],
      [10, 35],
      [13, 15],
      [14, 35],
      [15, 35],
      [16, 15],
    ]);
  });

  it('carry the documented error texts of 1, 2 and 3', () => {
    const texts = contract.operations.flatMap(({ row, documentedErrors }) =>
      documentedErrors.map(({ status, text }) => [row, status, text]),
    );
    expect(texts).toEqual([
      [1, 400, 'The provided file does not have a valid user.'],
      [2, 400, "The provided 'job id' is/are invalid"],
      [2, 404, 'not found'],
      [3, 403, "Attachments is disabled or you don't have permission to add attachments to this issue."],
    ]);
  });

  it('need a feature only if the specification says so', () => {
    const needing = contract.operations.filter(({ needsFeature }) => needsFeature !== undefined);
    expect(needing.map(({ row, needsFeature }) => [row, needsFeature])).toEqual([[3, 'issue-tracker']]);
  });

  it('report a permission failure of 9 in the one documented shape', () => {
    for (const status of ['401', '403']) {
      const refusal = Object.fromEntries(responsesOf(sourceOf('listGroupUsers')))[status];
      expect(refusal).toMatchObject({ 'x-provenance': 'stated', 'x-status-provenance': 'inferred' });
      const says = (json: unknown) => judge('listGroupUsers', json, { status: Number(status) }).verdict;
      expect(says({ errors: { message: 'No permission.<br>Please log in as another user' } })).toBe('valid');
      expect(says({ errors: { text: 'No permission.' } })).toBe('violations');
      // A 401 response may also report a refused credential, so the form with `error` is also valid for that status.
      const text = says({ error: 'No permission.<br>Please log in as another user' });
      expect(text).toBe(status === '401' ? 'valid' : 'violations');
    }
  });

  it('name the rules for request bodies', () => {
    const operationsOf: Readonly<Record<string, readonly string[]>> = {
      'gdpr-csv': ['uploadGdprFile'],
      'comment-visibility': ['updateComment', 'createComment'],
    };
    for (const [name, ids] of Object.entries(operationsOf)) {
      const naming = contract.operations.filter(({ requestRules }) => requestRules.some((rule) => rule === name));
      expect([name, naming.map(({ id }) => id)]).toEqual([name, ids]);
    }
  });
});

describe.each(places)('$source.operationId', ({ path, source }) => {
  it('describes its purpose, its provenance and the place of its items', () => {
    expect(source.summary).not.toBe('');
    expect(source['x-provenance']).toBe(source['x-row'] === undefined ? 'inferred' : 'stated');
    expect(path).toMatch(/^\/services\/v2\/.*\.json$/);
  });

  it('documents 401, 403, 500 and every other error, and 404 and 400 if it accepts an id', () => {
    const statuses = Object.keys(source.responses);
    expect(statuses).toEqual(expect.arrayContaining(['400', '401', '403', '500', 'default']));
    if (path.includes('{')) expect(statuses).toContain('404');
  });

  it('has a body, a provenance and an example for each response', () => {
    for (const [status, response] of responsesOf(source)) {
      const media = response.content['application/json'];
      expect([status, media?.schema !== undefined, response['x-provenance'] !== undefined]).toEqual([
        status,
        true,
        true,
      ]);
      for (const body of Object.values(response.content)) expect(examplesOf(body).length).toBeGreaterThan(0);
    }
  });

  it('has response examples that its own schemas accept', () => {
    for (const [status, response] of responsesOf(source)) {
      const media = response.content['application/json'];
      if (!media) continue;
      const head = { status: status === 'default' ? 418 : Number(status), mediaType: 'application/json' };
      const check = (variant: ResponseVariant) =>
        contract.validators(source.operationId).response({ ...head, variant });
      for (const [name, value] of examplesOf(media)) {
        const variant = media['x-variants'] && name === 'relations' ? 'open' : 'full';
        expect([status, name, check(variant)(value)]).toEqual([status, name, []]);
        if (variant === 'full') expect([status, name, check('projected')(value)]).toEqual([status, name, []]);
      }
    }
  });

  it('has request body examples that its own schema accepts', () => {
    const media = source.requestBody?.content['application/json'];
    for (const [name, value] of media ? examplesOf(media) : [])
      expect([name, contract.checkRequest(operation(source.operationId), value)]).toEqual([name, []]);
    if (media) expect(examplesOf(media).length).toBeGreaterThan(0);
  });

  it('has an example of each parameter, and accepts them all at once', () => {
    const parameters = parametersOf(source);
    for (const { name, example } of parameters) expect([name, example === undefined]).toEqual([name, false]);
    const texts = (location: string) =>
      parameters.filter((one) => one.in === location).map((one) => [one.name, String(one.example)]);
    const rawParameters = Object.fromEntries(texts('path')) as Record<string, string>;
    const query = new URLSearchParams(texts('query')).toString();
    expect(contract.decodeParameters(operation(source.operationId), { rawParameters }, query).violations).toEqual([]);
  });

  it('bounds every parameter', () => {
    for (const parameter of parametersOf(source)) {
      const schema = resolve<SchemaObject>(document, 'schemas', parameter.schema);
      const bounded =
        schema.type === 'boolean' ||
        (schema.type === 'integer' && schema['minimum'] !== undefined && schema.format !== undefined) ||
        (schema.type === 'string' && schema['maxLength'] !== undefined);
      expect([parameter.name, bounded]).toEqual([parameter.name, true]);
    }
  });
});

describe('parameters', () => {
  it('named page are bounded and single wherever they occur', () => {
    for (const { source } of places)
      for (const parameter of parametersOf(source).filter(({ name }) => name === 'page' || name === 'pageSize')) {
        const schema = resolve<SchemaObject>(document, 'schemas', parameter.schema);
        expect(schema).toMatchObject({
          type: 'integer',
          minimum: parameter.name === 'page' ? 0 : 1,
          maximum: 999_999_999,
        });
        expect(parameter['x-single']).toBe(true);
      }
  });

  it('may occur only once where section 4 of the rules says so', () => {
    const single = contract.operations.flatMap(({ parameters }) =>
      parameters.filter((one) => one.single && one.location === 'query').map(({ name }) => name),
    );
    expect(new Set(single)).toEqual(new Set(['page', 'pageSize', 'sort', 'spaceId', 'details', 'active']));
  });

  it('have no enum if their values are not documented', () => {
    for (const { source } of places)
      for (const { schema } of parametersOf(source))
        expect(resolve<SchemaObject>(document, 'schemas', schema)).not.toHaveProperty('enum');
  });

  it('in the path are stated, and their form is inferred', () => {
    for (const { source } of places)
      for (const parameter of parametersOf(source).filter((one) => one.in === 'path')) {
        const form = resolve<SchemaObject>(document, 'schemas', parameter.schema);
        expect([parameter.name, parameter['x-provenance'], form['x-provenance']]).toEqual([
          parameter.name,
          'stated',
          'inferred',
        ]);
      }
  });

  it('state the order of group members if none is requested', () => {
    const sort = parametersOf(sourceOf('listGroupUsers')).find(({ name }) => name === 'sort');
    expect(sort?.schema['default']).toBe('reputation');
  });

  it('are inferred for operations 15 and 16, and only reported for operation 13', () => {
    for (const id of ['listExpertise', 'listAnswerComments'])
      for (const { name, provenance } of operation(id).parameters)
        if (name.startsWith('page')) expect([name, provenance]).toEqual([name, 'inferred']);
    const reported = contract.operations.flatMap(({ id, parameters }) =>
      parameters.filter(({ acceptance }) => acceptance === 'report').map(({ name }) => `${id} ${name}`),
    );
    expect(reported).toEqual([
      'listArticles sort',
      'listArticles include',
      'listArticles exclude',
      'listArticles includeOnly',
    ]);
    const open = contract.operations.filter(({ unknownParameters }) => unknownParameters === 'report');
    expect(open.map(({ id }) => id)).toEqual(['listActions']);
  });
});

describe('fields', () => {
  it.each([
    [/^(emailAddress|email)$/, 'email'],
    [/^emailHash$/, 'email-hash'],
    [/^ip$/, 'ip'],
    [/^(realname|displayName)$/, 'real-name'],
    [/^username$/, 'username'],
    [/^avatar/, 'picture'],
  ])('called like %s are marked as personal data', (pattern, kind) => {
    const called = fields().filter(({ name }) => pattern.test(name));
    if (kind !== 'email-hash') expect(called.length).toBeGreaterThan(0);
    for (const { name, schema } of called) expect([name, schema['x-pii']]).toEqual([name, kind]);
  });

  it('of personal data are these and no others', () => {
    const personal = fields().filter(({ schema }) => schema['x-pii'] !== undefined);
    expect([...new Set(personal.map(({ name }) => name))].toSorted()).toEqual([
      'accountId',
      'avatar',
      'avatarUrl',
      'avatarUrls',
      'content',
      'displayName',
      'emailAddress',
      'emailHash',
      'ip',
      'key',
      'name',
      'realname',
      'self',
      'slug',
      'timeZone',
      'username',
    ]);
  });

  it('with undocumented bounds state that these are inferred', () => {
    for (const { name, schema } of fields())
      if (['minimum', 'maximum', 'minLength', 'maxLength'].some((bound) => bound in schema))
        expect([name, schema['x-bounds-provenance'] ?? schema['x-provenance'] ?? 'stated']).toEqual([name, 'inferred']);
  });

  it('with private data are marked, and are those of the field rule', () => {
    const marked = new Set(fields().flatMap(({ name, schema }) => (schema['x-private-field'] ? [name] : [])));
    expect([...marked].toSorted()).toEqual(['recipients', 'visibility']);
    const rule = {
      fields: ['visibility', 'recipients'],
      requires: { all: [{ permission: 'Use Private Comments' }, { any: {} }] },
    };
    expect(contract.fieldPermissions).toMatchObject([
      { ...rule, operations: ['getComment'], provenance: 'stated' },
      { ...rule, provenance: 'inferred' },
    ]);
    const carrying = contract.operations.filter(({ privateFields }) => privateFields !== undefined);
    expect(carrying.map(({ id }) => id)).toEqual([
      'getComment',
      'listNodeComments',
      'listAnswerComments',
      'updateComment',
      'createComment',
    ]);
  });

  it('are described if they are required', () => {
    for (const { name, schema } of fields())
      for (const required of schema.required ?? [])
        expect([name, Object.keys(schema.properties ?? {}).includes(required)]).toEqual([name, true]);
  });

  it('with unknown names are allowed everywhere', () => {
    for (const { name, schema } of fields()) {
      expect([name, 'additionalProperties' in schema]).toEqual([name, false]);
      expect([name, 'unevaluatedProperties' in schema]).toEqual([name, false]);
    }
  });

  it('without a documented form are open and marked', () => {
    expect(document.components.schemas['NotShown']).toEqual({
      description: 'A shape that the specification does not show. Any value is accepted.',
      'x-provenance': 'not shown',
    });
    expect(document.components.schemas['FollowRelation']).toMatchObject({
      'x-provenance': 'not shown',
      'x-expected-type': 'object',
    });
  });

  it('have a description and provenance for each resource', () => {
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      expect([name, typeof schema['description']]).toEqual([name, 'string']);
      expect([name, schema['x-provenance'] !== undefined]).toEqual([name, true]);
    }
  });
});

describe('catalogues', () => {
  it('contain every permission of the specification with its role category', () => {
    expect(permissionsOf('anonymous')).toEqual([
      'View the question page',
      'View the questions list',
      'View users list',
      "View user's profile",
    ]);
    expect(permissionsOf('standard')).toEqual(['Mark as favorite']);
    expect(permissionsOf('custom')).toEqual(['View list idea', 'View list kbentry']);
    expect(permissionsOf('site administration')).toEqual(['View analytics', 'Edit users and groups']);
    expect(permissionsOf(undefined)).toHaveLength(8);
    expect(new Set(contract.permissions.map(({ name }) => name)).size).toBe(contract.permissions.length);
  });

  const { 'x-private-visibility': privateOptions = [] } = document;

  it('name nothing that no rule uses', () => {
    const used = JSON.stringify([contract.operations, contract.fieldPermissions, privateOptions]);
    for (const { name } of [...contract.permissions, ...contract.groups, ...contract.flags])
      expect([name, used.includes(JSON.stringify(name))]).toEqual([name, true]);
  });

  it('contain three private options, one of them with an observed name', () => {
    expect(privateOptions).toHaveLength(3);
    const shown = privateOptions.filter(({ optionProvenance }) => optionProvenance === 'observed');
    expect(shown.map(({ option }) => option)).toEqual(['recipients']);
    for (const { mappingProvenance } of privateOptions) expect(mappingProvenance).toBe('inferred');
  });
});

/** Returns the code spans that a table cell contains. */
const namesOf = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

describe('the table of required fields in docs/contract.md', () => {
  const [, section = ''] = /## What is required\n(.*?)\n## /s.exec(readFileSync('docs/contract.md', 'utf8')) ?? [];
  const rows = section
    .split('\n')
    .filter((line) => /^\| `[A-Z]/.test(line))
    .map((line) => line.split(/(?<!\\)\|/).slice(1, -1));
  const listed = new Map(rows.flatMap(([names, ...cells]) => namesOf(names).map((name) => [name, cells] as const)));
  /** Returns a resource's schema and the schemas inside it, but not those of other resources that it references. */
  const partsOf = (schema: SchemaObject): SchemaObject[] => [
    schema,
    ...(schema.allOf ?? []).filter((part) => typeof part === 'object').filter(({ $ref }) => $ref === undefined),
  ];
  const inResponses = Object.entries(document.components.schemas).filter(
    ([name]) => !/^(GdprUpload$|CommentWrite$|Error|Permission)/.test(name),
  );

  it.each(inResponses)('names what %s requires', (name, schema) => {
    const required = partsOf(schema).flatMap((part) => part.required ?? []);
    const [shownRequired] = listed.get(name) ?? [];
    const direct = namesOf(shownRequired?.replace(/ with .*/, ''));
    expect(direct.toSorted()).toEqual(required.toSorted());
  });
});

describe('the vendor extensions', () => {
  const extensions = readFileSync(join(contractFolder(), 'vendor-extensions.schema.json'), 'utf8');
  const text = readFileSync(join(contractFolder(), 'openapi.yaml'), 'utf8');

  it('are all used by the document or the generated schemas', () => {
    const used = namesIn(text).union(namesIn(JSON.stringify([...contract.schemas.values()])));
    const unused = [...namesIn(extensions)].filter((name) => !used.has(name));
    expect(unused).toEqual([]);
  });
});
