import { describe, expect, it } from 'vitest';
import { createSeededRandom } from '../../../src/lib/seeded-random.ts';
import type { Violation } from '../../../src/engine/model/violation.ts';
import { readExamples } from '../../../tools/scanner/compare-body.ts';
import { mutateValues } from '../../../tools/scanner/mutate-body.ts';
import { toViolations } from '../../../src/engine/contract/explain/schema-violation.ts';
import { contract, example, judge, operation } from '../contract/sample.ts';

/**
 * The documentation promises that a violation in the `undocumented` category never causes a refusal. These tests apply
 * every rule of the contract to mutated messages. If a new rule has the wrong category, they fail.
 */

const QUERIES = ['', 'includeOnly=id', 'includeOnly=id,author.username', 'exclude=body', 'details=true', 'wrap=1'];
const MUTATIONS = 40;

const categories = (violations: readonly Violation[]) => [...new Set(violations.map(({ category }) => category))];

function valuesOf(id: string, query: string) {
  const one = operation(id);
  const inPath = one.parameters.filter(({ location }) => location === 'path');
  const rawParameters = Object.fromEntries(inPath.map(({ name }) => [name, '1']));
  return contract.decodeParameters(one, { rawParameters }, query);
}

describe('a violation of the category undocumented', () => {
  it.each(readExamples().responses)('never makes a response of $operation ($status) invalid', (response) => {
    const random = createSeededRandom(13);
    const one = operation(response.operation);
    const breaking = new Set<string>();
    const advisory = new Set<string>();
    for (const query of QUERIES)
      for (const body of response.bodies)
        for (let left = MUTATIONS; left > 0; left -= 1) {
          const json = toJson(mutateValues(random, JSON.stringify(body)).toString());
          const { values } = valuesOf(one.id, query);
          const head = { status: response.status, mediaType: 'application/json', isEmpty: false, json };
          const findings = contract.checkResponse(one, values, head);
          for (const category of categories(findings.violations)) breaking.add(category);
          for (const category of categories(findings.reported)) advisory.add(category);
        }
    expect([...breaking]).not.toContain('undocumented');
    expect([...advisory]).toContain('undocumented');
    // Everything that is inferred about a body only leads to advisories, but the body must still be well-formed JSON.
    if (one.provenance === 'inferred') {
      expect([...breaking]).toEqual(['protocol']);
      expect([...advisory]).toContain('advisory');
    } else expect(breaking.size).toBeGreaterThan(1);
  });

  it('never makes the parameters of a request invalid', () => {
    const queries = ['colour=1', 'includeOnly=id&page=-1&page=2', '%ff=1&details=maybe&sort=%00', 'x'.repeat(300)];
    const found = contract.operations.map(({ id }) =>
      queries.flatMap((query) => categories(valuesOf(id, query).violations)),
    );
    expect(found.flat()).not.toContain('undocumented');
    expect(found.flat()).toContain('not-allowed');
    expect(categories(valuesOf('listActions', 'colour=1').reported)).toEqual(['undocumented']);
  });

  it.each(contract.operations.filter(({ requestBody }) => requestBody !== undefined))(
    'never makes the request body of $id invalid',
    ({ id }) => {
      const sent = {
        colour: 1,
        content: 'username\nbob\n',
        body: 'x',
        recipients: [{ id: 1, type: 'user', colour: 1 }],
      };
      expect(categories(contract.checkRequest(operation(id), sent))).toEqual(['undocumented']);
      expect(categories(contract.checkRequest(operation(id), { ...sent, content: 1, body: 1 }))).toContain('type');
    },
  );
});

describe('a violation of the category not-allowed', () => {
  it.each([
    ['a field that must be absent', '', { title: 'x' }, '/title'],
    ['a field that was not requested', 'includeOnly=id', { id: 1, type: 'comment' }, '/type'],
  ])('is %s', (_, query, more, at) => {
    const json = query === '' ? { ...example('comment'), ...more } : more;
    expect(judge('getComment', json, { query })).toMatchObject({
      verdict: 'violations',
      violations: [{ category: 'not-allowed', at }],
    });
  });

  it('is a field of an object that the contract closes', () => {
    const error = { keyword: 'additionalProperties', at: '/x', schema: 'resources/user.schema.json#', limit: 'x' };
    const place = { check: 'responses', direction: 'response', location: 'body' } as const;
    expect(toViolations([error], place, () => undefined)).toMatchObject([{ category: 'not-allowed' }]);
  });
});

function toJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
