import { describe, expect, it } from 'vitest';
import { createPartsReader, OTHER_FIELD } from '../../../src/features/deprecation/requested-parts.ts';
import { contract } from '../../builders/compiled-contract.ts';

const read = createPartsReader(contract.operations, contract.document);
const partsOf = (query: string | undefined, operation = 'listIdeas') => read(operation, { query });

describe('what a request asks for', () => {
  it('is nothing but the operation, if there is no query', () => {
    for (const query of [undefined, '']) expect(partsOf(query)).toEqual({ parameters: [], fields: [] });
    expect(partsOf('page=1', 'unknown')).toEqual({ parameters: [], fields: [] });
  });

  it('contains the documented query parameters, however they are encoded, and no others', () => {
    expect(partsOf('so%72t=newest&alice%40example.org=1&page=2').parameters.toSorted()).toEqual(['page', 'sort']);
  });

  it('contains the top-level fields that a projection requests, relative to the item', () => {
    expect(partsOf('includeOnly=id,author.username,list.title&include=id').fields).toEqual(['id', 'author', 'title']);
    expect(partsOf('exclude=body').fields).toEqual([]);
  });

  it('contains no field that the contract does not have, by its name', () => {
    expect(partsOf('includeOnly=mallory@example.org,id,__proto__').fields).toEqual([OTHER_FIELD, 'id']);
  });

  it('contains at most 30 fields', () => {
    const known = [...new Set(JSON.stringify(contract.document).match(/(?<=")[a-z][A-Za-z]+(?=":)/g))];
    expect(partsOf(`includeOnly=${known.join(',')}`).fields).toHaveLength(30);
  });

  it('is bounded, and the same for a query that is too long to remember', () => {
    const many = Array.from({ length: 5000 }, (_, index) => `x${index}`).join(',');
    expect(partsOf(`includeOnly=${many},id`).fields).toEqual([OTHER_FIELD, 'id']);
    expect(partsOf(`sort=newest&q=${'x'.repeat(600)}`)).toEqual(partsOf(`sort=newest&q=x`));
  });
});
