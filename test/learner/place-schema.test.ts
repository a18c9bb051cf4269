import { describe, expect, it } from 'vitest';
import { type DocumentNode, fieldNames } from '../../src/learner/document.ts';
import { compilePlaceSchemas } from '../../src/learner/place-schema.ts';

const schemas = {
  Base: { properties: { id: { type: 'integer' } } },
  Page: {
    type: 'object',
    allOf: [{ $ref: '#/components/schemas/Base' }],
    oneOf: [{ properties: { list: { items: { properties: { word: { type: 'string' } } } } } }, { required: ['id'] }],
  },
};

const document: DocumentNode = {
  paths: {
    '/one.json': {
      get: {
        operationId: 'one',
        responses: { 200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Page' } } } } },
      },
    },
  },
  components: { schemas, responses: {}, parameters: {} },
};

describe('the schema of a place', () => {
  it('contains the fields of references and of all combinations, each with its path', () => {
    const place = compilePlaceSchemas(document)('one', 200, false);
    expect(place?.member('id')?.places.map(({ path }) => path)).toEqual(['$.components.schemas.Base.properties.id']);
    expect(place?.member('list')?.items()?.member('word')?.places).toMatchObject([
      { path: '$.components.schemas.Page.oneOf[0].properties.list.items.properties.word' },
    ]);
    // An alternative need not apply, so what it requires is not required.
    expect(place?.required).toEqual([]);
  });

  it('contributes to the names of all fields', () => {
    expect([...fieldNames(document)].toSorted()).toEqual(['id', 'list', 'word']);
  });
});
