import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../src/engine/contract/load-contract.ts';
import type { Violation } from '../../../src/engine/model/violation.ts';
import { exampleOf } from '../../builders/contract-examples.ts';
import { propertyRuns } from '../../builders/property-runs.ts';
import { bent } from '../../engine/contract/sample.ts';
import { contractWith, learnedBy, learner, response } from '../../learner/learned.ts';

// What a learned overlay proposes must make the traffic that it was learned from clean: without violations, and without
// advisories that the contract did not have before.

/** The lists, the member with their items, and a path to an item of the list. */
const LISTS = {
  listQuestions: 'list',
  listIdeas: 'list',
  listGroupUsers: 'list',
  listTopicFollowers: 'list',
  listArticles: 'list',
  listExpertise: 'list',
  listAnswerComments: 'list',
  listActions: 'actions',
} as const;
type ListId = keyof typeof LISTS;

const value = fc.constantFrom<unknown>(
  -1,
  7,
  1.5,
  1e20,
  'poll',
  'some text',
  '2026-05-04',
  true,
  null,
  [],
  [3],
  ['a'],
  {
    id: 3,
    label: 'x',
  },
);

/** A change to the items of a list. The value `undefined` removes a member. */
const change = (id: ListId): fc.Arbitrary<readonly [path: string, value: unknown]> => {
  const [item = {}] = exampleOf(id)[LISTS[id]] as readonly Readonly<Record<string, unknown>>[];
  const inner = Object.entries(item).flatMap(([name, member]) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.keys(member).map((below) => `${name}.${below}`)
      : [],
  );
  // The values of ids identify the items, and the type and the canceled fields are subject to stated rules.
  const fixed = /^(?:id|type|canceled.*|containerIds|actionDate)$/;
  const names = [...Object.keys(item), ...inner, 'extraOne', 'extraTwo'].filter((name) => !fixed.test(name));
  return fc.oneof(
    fc.tuple(fc.constantFrom(...names), fc.option(value, { nil: undefined })),
    fc.tuple(fc.constant('type'), fc.constant('poll')),
  );
};

function pagesOf(id: ListId, changes: readonly (readonly [path: string, value: unknown])[]): unknown[] {
  const body = exampleOf(id);
  const member = LISTS[id];
  const [item] = body[member] as readonly Readonly<Record<string, unknown>>[];
  return Array.from({ length: 30 }, (_, at) => {
    const number = 1000 + at;
    const unique = { ...item, id: typeof item?.['id'] === 'string' ? `${number}` : number };
    const changed = changes.reduce<unknown>((one, [path, to]) => {
      const parent = path
        .split('.')
        .slice(0, -1)
        .reduce<unknown>((inside, name) => (inside as never)?.[name], one);
      return typeof parent === 'object' && parent !== null ? bent(one, path, to) : one;
    }, unique);
    return { ...body, [member]: [changed], ...(member === 'list' && { listCount: 1 }) };
  });
}

function findings(contract: Contract, id: string, json: unknown) {
  const operation = contract.operations.find((one) => one.id === id);
  if (operation === undefined) throw new Error(`no operation ${id}`);
  const path = operation.parameters.filter(({ location }) => location === 'path');
  const rawParameters = Object.fromEntries(path.map(({ name }) => [name, '118']));
  const { values } = contract.decodeParameters(operation, { rawParameters }, undefined);
  return contract.checkResponse(operation, values, { status: 200, mediaType: 'application/json', json });
}

const nameOf = ({ keyword, at }: Violation) => `${keyword} ${at}`;

function learnFrom(id: string, pages: readonly unknown[]) {
  const one = learner();
  for (const json of pages) one.sampleResponse(response(json, { operation: id }));
  return learnedBy(one).overlay;
}

describe('an overlay learned from traffic', () => {
  const plain = contractWith('');

  it.each(Object.keys(LISTS) as ListId[])('makes the same traffic clean (%s)', (id) => {
    fc.assert(
      fc.property(fc.array(change(id), { minLength: 1, maxLength: 4 }), (changes) => {
        const pages = pagesOf(id, changes);
        const [first] = pages;
        const before = new Set(findings(plain, id, first).reported.map(nameOf));
        const overlay = learnFrom(id, pages);
        expect(overlay).not.toMatch(/\b(?:enum|pattern|minimum|maximum):(?<!x-expected-\w+:)/);
        const contract = contractWith(overlay);
        expect(contract.warnings).toEqual([]);
        for (const json of pages) {
          const { violations, reported } = findings(contract, id, json);
          expect(violations.map(nameOf)).toEqual([]);
          expect(reported.map(nameOf).filter((one) => !before.has(one))).toEqual([]);
        }
      }),
      { numRuns: propertyRuns(4) },
    );
  });

  it.each(['listQuestions', 'listIdeas', 'listArticles', 'listAnswerComments'] as const)(
    'adds an item type, which no rule refuses, in %s',
    (id) => {
      const pages = pagesOf(id, [['type', 'poll']]);
      const contract = contractWith(learnFrom(id, pages));
      expect(findings(plain, id, pages[0]).reported.map(nameOf)).toEqual(['x-expected-enum /list/0/type']);
      expect(findings(contract, id, pages[0])).toEqual({ verdict: 'valid', violations: [], reported: [] });
    },
  );

  it('never requires a field', () => {
    const overlay = learnFrom('listQuestions', pagesOf('listQuestions', [['badge', { kind: 'x', size: 1 }]]));
    expect(overlay).toContain('x-expected');
    expect(overlay).not.toMatch(/^\s*required:/m);
    const [page] = pagesOf('listQuestions', []);
    expect(findings(contractWith(overlay), 'listQuestions', page)).toMatchObject({ verdict: 'valid' });
  });
});
