import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { resolve, type ResponseObject, type SchemaOrBoolean } from '../src/engine/contract/openapi-document.ts';
import { document } from './engine/contract/sample.ts';

/** A fact in the contract: `parameter page`, `response getComment 200`, `Author` or `Author.id`. */
interface Fact {
  readonly name: string;
  readonly provenance: string | undefined;
  readonly description: string | undefined;
  /** True for a field that is documented as absent. Its schema is `false`, which cannot have a description. */
  readonly absent?: boolean;
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined);

function facts(): Fact[] {
  const found: Fact[] = [];
  const add = (name: string, source: object) => {
    const { description, 'x-provenance': provenance } = source as Record<string, unknown>;
    found.push({ name, provenance: textOf(provenance), description: textOf(description) });
  };
  const { parameters, responses, schemas } = document.components;
  for (const [name, parameter] of Object.entries(parameters)) add(`parameter ${name}`, parameter);
  for (const [name, response] of Object.entries(responses)) add(`response ${name}`, response);
  for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
    add(`operation ${operation.operationId}`, operation);
    for (const [status, place] of Object.entries(operation.responses))
      if (!('$ref' in place))
        add(`response ${operation.operationId} ${status}`, resolve<ResponseObject>(document, 'responses', place));
    for (const place of operation.parameters ?? []) expect([operation.operationId, '$ref' in place]).toContain(true);
  }
  const visit = (prefix: string, schema: SchemaOrBoolean, inherited: string | undefined) => {
    if (typeof schema === 'boolean') return;
    for (const [name, child] of Object.entries(schema.properties ?? {})) {
      const own = typeof child === 'boolean' ? {} : child;
      const provenance = textOf(own['x-provenance']) ?? inherited;
      const description = textOf(own['description']);
      found.push({ name: `${prefix}.${name}`, provenance, description, absent: child === false });
      visit(`${prefix}.${name}`, child, provenance);
    }
    for (const part of [schema.items ?? true, ...(schema.allOf ?? []), ...(schema.anyOf ?? [])])
      visit(prefix, part, inherited);
  };
  for (const [name, schema] of Object.entries(schemas)) {
    add(name, schema);
    visit(name, schema, textOf(schema['x-provenance']));
  }
  return found;
}

/** The kinds of facts whose names begin with the kind. */
const KINDS = new Set(['operation', 'parameter', 'response']);

/** Returns each fact in the table of docs/provenance.md with its provenance and grounds. */
function justified(): { name: string; provenance: string; grounds: string }[] {
  const [, table = ''] = readFileSync('docs/provenance.md', 'utf8').split('| subject | provenance | facts | grounds |');
  const rows = table.split('\n').filter((line) => /^\| (?!-)/.test(line));
  return rows.flatMap((row) => {
    const [, subject = '', provenance = '', names = '', grounds = ''] = row.split('|').map((cell) => cell.trim());
    const listed = [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
    return listed.map((name) => ({ name: KINDS.has(subject) ? `${subject} ${name}` : name, provenance, grounds }));
  });
}

const line = ({ name, provenance }: { name: string; provenance: string | undefined }) =>
  `${name}: ${provenance ?? 'unknown'}`;

describe('every operation, parameter, response, resource and field of the contract', () => {
  it('has a description, unless it is a field that is documented as absent', () => {
    const silent = facts().filter(({ description = '', absent }) => absent !== true && description.trim() === '');
    expect(silent.map(({ name }) => name)).toEqual([]);
    expect(facts().length).toBeGreaterThan(250);
  });

  it('has the provenance that docs/provenance.md justifies', () => {
    const rows = justified();
    const others = facts().filter(({ provenance }) => provenance !== 'stated');
    expect(rows.map(line).toSorted()).toEqual(others.map(line).toSorted());
    expect(rows.filter(({ grounds }) => grounds === '')).toEqual([]);
  });

  // Before you update the list, make sure that the specification states the new fact.
  it('is stated only if stated-facts.txt lists it', async () => {
    const stated = facts().filter(({ provenance }) => provenance === 'stated');
    const names = stated.map(({ name }) => name).toSorted();
    await expect(`${names.join('\n')}\n`).toMatchFileSnapshot('stated-facts.txt');
  });

  it('names no address that does not exist', () => {
    expect(JSON.stringify((document as { readonly info?: unknown }).info)).not.toContain('.invalid');
  });

  it('says that the bounds of numbers are inferred, because the specification states none', () => {
    const bounded = (schema: SchemaOrBoolean): SchemaOrBoolean[] => {
      if (typeof schema === 'boolean') return [];
      const parts = [...Object.values(schema.properties ?? {}), schema.items ?? true, ...(schema.allOf ?? [])];
      const own = schema['minimum'] !== undefined || schema.format === 'int64' ? [schema] : [];
      return [...own, ...parts.flatMap(bounded)];
    };
    for (const schema of Object.values(document.components.schemas).flatMap(bounded))
      if (typeof schema === 'object')
        expect(schema).toMatchObject(
          schema['x-provenance'] === 'inferred' ? {} : { 'x-bounds-provenance': 'inferred' },
        );
  });
});
