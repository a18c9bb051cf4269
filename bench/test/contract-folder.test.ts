import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'vitest';
import { operationCount, withOperations } from '../contract-folder.ts';

const TEXT = readFileSync(new URL('../../schemas/openapi.yaml', import.meta.url), 'utf8');

test('a contract is extended to the wanted number of operations, each with an id of letters', () => {
  const ids = [...withOperations(TEXT, 500).matchAll(/^ {6}operationId: (\S+)/gm)].map(([, id]) => id ?? '');
  assert.equal(ids.length, 500);
  assert.equal(new Set(ids).size, 500);
  assert.ok(ids.every((id) => /^[a-z][A-Za-z]*$/.test(id)));
});

test('the counted operations are those of the contract', () => {
  assert.equal(withOperations(TEXT, operationCount()).match(/operationId:/g)?.length, operationCount());
});
