import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { bundlePlace, contractFolder, SCHEMA_BASE } from '../../../src/engine/contract/contract-files.ts';
import {
  bundleSchemas,
  GENERATED,
  EXPECTATIONS,
  generateSchemas,
  projectSchema,
  stripSchema,
} from '../../../src/engine/contract/generate/generate-schemas.ts';
import { compareSchemas } from '../../../src/engine/contract/generate/schema-folder.ts';
import { document } from './sample.ts';

const generated = generateSchemas(document);
const bundles = bundleSchemas(generated);
const same = (reference: string) => reference;

describe('the generated schemas', () => {
  it('are up to date in the repository', () => {
    expect(compareSchemas(contractFolder(), bundles)).toEqual({ missing: [], stale: [], superfluous: [] });
  });

  it('are the same in every run', () => {
    expect([...bundleSchemas(generateSchemas(structuredClone(document)))]).toEqual([...bundles]);
  });

  it('have their address as $id and the dialect as $schema', () => {
    for (const [file, schema] of generated) {
      expect(schema['$id']).toBe(SCHEMA_BASE + file);
      expect(schema['$schema']).toBe('https://json-schema.org/draft/2020-12/schema');
    }
  });

  it('match the meta-schema, and each compiles in strict mode', () => {
    const keywords = [...EXPECTATIONS];
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, keywords, schemas: [...generated.values()] });
    for (const [file, schema] of generated) {
      expect(ajv.validateSchema(schema), file).toBe(true);
      expect(ajv.getSchema(SCHEMA_BASE + file), file).toBeTypeOf('function');
    }
  });

  it('include every resource and the parameters, request and responses of every operation', () => {
    for (const methods of Object.values(document.paths))
      for (const operation of Object.values(methods)) {
        const folder = `operations/${operation.operationId}`;
        expect(generated.has(`${folder}/parameters.schema.json`)).toBe(true);
        expect(generated.has(`${folder}/request.schema.json`)).toBe(operation.requestBody !== undefined);
        for (const status of Object.keys(operation.responses))
          expect(generated.has(`${folder}/response.${status}.schema.json`)).toBe(true);
      }
    expect([...generated.keys()].filter((file) => /^resources\/[^.]+\.schema\.json$/.test(file))).toHaveLength(
      Object.keys(document.components.schemas).length,
    );
  });

  it('have a projected form exactly where a projection can be requested', () => {
    const projected = [...generated.keys()].filter((file) => /^operations\/.*\.projected\.schema\.json$/.test(file));
    expect(projected.map((file) => file.split('/')[1])).toEqual([
      'getComment',
      'listActions',
      'listArticles',
      'listGroupUsers',
      'listIdeas',
      'listNodeFollowers',
      'listQuestions',
      'listTopicFollowers',
    ]);
  });

  it('require nothing inside projected items but all fields of a projected envelope', () => {
    expect(generated.get('resources/node.projected.schema.json')).not.toHaveProperty('required');
    expect(generated.get('resources/paged-list.schema.json')).toHaveProperty('required');
    const list = JSON.stringify(generated.get('resources/question-list.projected.schema.json'));
    expect(list).toContain('"question.projected.schema.json"');
    expect(list).toContain('"sorted-list');
  });
});

/** Returns a stored schema without the extensions, which strict validators do not recognize. */
const withoutExpectations = (schema: object) =>
  JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => (EXPECTATIONS.includes(key) ? undefined : value)),
  ) as Record<string, unknown>;

describe('the files of generated schemas', () => {
  it('include one for each resource and one for each operation', () => {
    const resources = [...bundles.keys()].filter((file) => file.startsWith('resources/'));
    const operations = [...bundles.keys()].filter((file) => file.startsWith('operations/'));
    expect(resources).toHaveLength(Object.keys(document.components.schemas).length);
    expect(operations).toEqual(
      Object.values(document.paths)
        .flatMap((methods) => Object.values(methods))
        .map(({ operationId }) => `operations/${operationId}.schema.json`)
        .toSorted(),
    );
  });

  it('contain every schema at its documented place', () => {
    for (const [path, schema] of generated) {
      const { file, name } = bundlePlace(path);
      const bundle = JSON.parse(bundles.get(file) ?? '{}') as { $defs: Record<string, unknown> };
      const { $schema: _, ...rest } = withoutExpectations(schema);
      expect(name === undefined ? bundle : bundle.$defs[name]).toMatchObject(rest);
    }
  });

  it('can be used by a validator without further information', () => {
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
    for (const text of bundles.values()) ajv.addSchema(JSON.parse(text) as AnySchemaObject);
    for (const file of bundles.keys()) expect(ajv.getSchema(SCHEMA_BASE + file), file).toBeTypeOf('function');
    for (const path of generated.keys()) expect(ajv.getSchema(SCHEMA_BASE + path), path).toBeTypeOf('function');
    const accepts = ajv.getSchema(`${SCHEMA_BASE}operations/listQuestions/response.200.schema.json`);
    const { value } = document.components.examples['questions'] ?? {};
    expect(accepts?.(value)).toBe(true);
    expect(accepts?.({ ...(value as object), list: 7 })).toBe(false);
  });
});

describe('generating', () => {
  it('removes keywords that Ajv rejects but not fields of the same name', () => {
    const source = {
      type: 'object',
      example: 1,
      format: 'email',
      'x-pii': 'email',
      properties: { example: { type: 'string', examples: ['a'] }, format: { type: 'string' } },
      items: { format: 'int64', minimum: 0 },
      allOf: [{ 'x-since': '1.0' }],
    };
    expect(stripSchema(source, same)).toEqual({
      type: 'object',
      properties: { example: { type: 'string' }, format: { type: 'string' } },
      items: { minimum: 0, 'x-expected-minimum': -(2 ** 63), 'x-expected-maximum': 2 ** 63 },
      allOf: [{}],
    });
  });

  it('converts a forbidden field to a schema that errors can refer to', () => {
    expect(stripSchema({ properties: { title: false, body: true } }, same)).toEqual({
      properties: { title: { not: {} }, body: true },
    });
  });

  it('projects schemas at every depth below the envelope', () => {
    const inner = { type: 'object', required: ['a'], properties: { a: { type: 'object', required: ['b'] } } };
    const schema = { 'x-envelope': true, required: ['list'], properties: { list: { type: 'array', items: inner } } };
    expect(projectSchema(schema)).toEqual({
      'x-envelope': true,
      required: ['list'],
      properties: {
        list: { type: 'array', items: { type: 'object', properties: { a: { type: 'object' } } } },
      },
    });
  });

  it('lists files that are missing, outdated or unnecessary', () => {
    const folder = mkdtempSync(join(tmpdir(), 'portico-schemas-'));
    cpSync(contractFolder(), folder, { recursive: true });
    rmSync(join(folder, 'resources/user.schema.json'));
    const stale = join(folder, 'resources/topic.schema.json');
    writeFileSync(stale, `${readFileSync(stale, 'utf8')} `);
    writeFileSync(join(folder, 'resources/stray.schema.json'), JSON.stringify({ $comment: GENERATED }, undefined, 2));
    expect(compareSchemas(folder, bundles)).toEqual({
      missing: ['resources/user.schema.json'],
      stale: ['resources/topic.schema.json'],
      superfluous: ['resources/stray.schema.json'],
    });
    rmSync(folder, { recursive: true });
  });
});
