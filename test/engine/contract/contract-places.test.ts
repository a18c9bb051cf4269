import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createContractPlaces } from '../../../src/engine/contract/contract-places.ts';
import { contractFolder } from '../../../src/engine/contract/contract-files.ts';
import { contract } from '../../engine/contract/sample.ts';
import { entryWith } from '../../workbench/report/report-fixtures.ts';

const lineIn = (file: string, line: number | undefined) =>
  readFileSync(join(contractFolder(), '..', file), 'utf8').split('\n')[(line ?? 0) - 1];
const placeOf = createContractPlaces(undefined, contract.operations, process.cwd());

it.each([
  ['resources/node.schema.json#/required', 'schemas/resources/node.schema.json', '/required', '"required": ['],
  [
    'resources/node.projected.schema.json#/properties',
    'schemas/resources/node.schema.json',
    '/$defs/projected/properties',
    '"properties": {',
  ],
  [
    'operations/listIdeas/parameters.schema.json#/properties/query',
    'schemas/operations/listIdeas.schema.json',
    '/$defs/parameters/properties/query',
    '"query": {',
  ],
  [
    'operations/listIdeas/response.200.projected.schema.json#/$ref',
    'schemas/operations/listIdeas.schema.json',
    '/$defs/response.200.projected/$ref',
    '"$ref": ',
  ],
])('the place of %s is found in its file', (schemaPath, file, pointer, text) => {
  const place = placeOf(entryWith({ schemaPath }));
  expect(place).toMatchObject({ file, pointer });
  // The reported line is the one on which the value starts.
  const [before, at] = [lineIn(file, (place.line ?? 0) - 1), lineIn(file, place.line)];
  expect(`${before?.trim()} ${at?.trim()}`).toContain(text.split(' ')[0]);
});

it('the place of an extension, which generated files do not contain, is found in the document', () => {
  const place = placeOf(entryWith({ schemaPath: 'resources/node.schema.json#/x-expected', keyword: 'x-expected' }));
  expect(place).toMatchObject({
    file: 'schemas/openapi.yaml',
    pointer: '/components/schemas/Node/x-expected',
    schema: { target: '$.components.schemas.Node' },
  });
  expect(lineIn('schemas/openapi.yaml', (place.line ?? 0) - 1)).toContain('x-expected:');
});

it('the place in a contract without generated files is found in its document', () => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-places-'));
  for (const file of ['openapi.yaml', 'vendor-extensions.schema.json'])
    cpSync(join(contractFolder(), file), join(folder, file));
  const places = createContractPlaces(folder, contract.operations, folder);
  expect(places(entryWith({ schemaPath: 'resources/node.schema.json#/required' }))).toMatchObject({
    file: 'openapi.yaml',
    pointer: '/components/schemas/Node',
    line: expect.any(Number) as number,
  });
  rmSync(folder, { recursive: true });
});
