import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { bundlePlace, contractFolder, SCHEMA_BASE } from '../../src/contract/contract-files.ts';
import { bundleSchemas } from '../../tools/schemas/bundle-schemas.ts';
import { compareFiles } from '../../tools/schemas/compare-files.ts';
import { generateSchemas, stripSchema } from '../../src/contract/generate/generate-schemas.ts';
import { projectSchema } from '../../src/contract/generate/project-schema.ts';
import { document } from './sample.ts';

const generated = generateSchemas(document);
const bundles = bundleSchemas(generated);
const same = (reference: string) => reference;

describe('the generated schemas', () => {
  it('are committed as they would be generated now', () => {
    expect(compareFiles(contractFolder(), bundles)).toEqual({ missing: [], stale: [], superfluous: [] });
  });

  it('come out the same every time', () => {
    expect([...bundleSchemas(generateSchemas(structuredClone(document)))]).toEqual([...bundles]);
  });

  it('have their address as $id and name the dialect', () => {
    for (const [file, schema] of generated) {
      expect(schema['$id']).toBe(SCHEMA_BASE + file);
      expect(schema['$schema']).toBe('https://json-schema.org/draft/2020-12/schema');
    }
  });

  it('keep to the meta-schema and compile in strict mode, one by one', () => {
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, schemas: [...generated.values()] });
    for (const [file, schema] of generated) {
      expect(ajv.validateSchema(schema), file).toBe(true);
      expect(ajv.getSchema(SCHEMA_BASE + file), file).toBeTypeOf('function');
    }
  });

  it('hold one schema per resource, and per operation its parameters, request and answers', () => {
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

  it('have a projected form wherever a projection can be asked for, and there only', () => {
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

  it('require nothing inside projected items and everything of a projected envelope', () => {
    expect(generated.get('resources/node.projected.schema.json')).not.toHaveProperty('required');
    expect(generated.get('resources/paged-list.schema.json')).toHaveProperty('required');
    const list = JSON.stringify(generated.get('resources/question-list.projected.schema.json'));
    expect(list).toContain('"question.projected.schema.json"');
    expect(list).toContain('"sorted-list');
  });
});

describe('the files of generated schemas', () => {
  it('are one per resource and one per operation', () => {
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

  it('have every schema at the place that is named for it', () => {
    for (const [path, schema] of generated) {
      const { file, name } = bundlePlace(path);
      const bundle = JSON.parse(bundles.get(file) ?? '{}') as { $defs: Record<string, unknown> };
      const { $schema: _, ...rest } = schema;
      expect(name === undefined ? bundle : bundle.$defs[name]).toMatchObject(rest);
    }
  });

  it('are understood by a validator that knows nothing else of them', () => {
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
  it('strips what Ajv refuses and keeps fields that are called so', () => {
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
      items: { minimum: 0, maximum: 2 ** 63 },
      allOf: [{}],
    });
  });

  it('turns a forbidden field into a schema that can be found again', () => {
    expect(stripSchema({ properties: { title: false, body: true } }, same)).toEqual({
      properties: { title: { not: {} }, body: true },
    });
  });

  it('projects at every depth below the envelope', () => {
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

  it('names files that are missing, stale and superfluous', () => {
    const folder = mkdtempSync(join(tmpdir(), 'portico-schemas-'));
    cpSync(contractFolder(), folder, { recursive: true });
    rmSync(join(folder, 'resources/user.schema.json'));
    const stale = join(folder, 'resources/topic.schema.json');
    writeFileSync(stale, `${readFileSync(stale, 'utf8')} `);
    writeFileSync(join(folder, 'resources/stray.schema.json'), '{}');
    expect(compareFiles(folder, bundles)).toEqual({
      missing: ['resources/user.schema.json'],
      stale: ['resources/topic.schema.json'],
      superfluous: ['resources/stray.schema.json'],
    });
    rmSync(folder, { recursive: true });
  });
});
