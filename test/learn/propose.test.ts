import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answer, contractWith, judge, learnedBy, learner, page } from './learned.ts';

const SECRETS = [
  'jana.cerny@example.org',
  'Jana Černá',
  'zed.secretive',
  'tok_9f8e7d6c5b4a39281706f5e4',
  '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  '192.0.2.77',
  'quentinplanted',
  'https://secret.example/u/8841',
];

const secret = fc.constantFrom(...SECRETS);
const fieldName = fc.constantFrom('alpha', 'betaCount', 'gamma_ray', 'deltaDate', 'isOpen', 'kind', 'epsilon');

/** Values of every kind, with secrets in them and as keys of maps. */
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    secret,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    fc.constantFrom('2026-05-04', '05/04/2026 10:30 AM', '<p>x</p>', ''),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(fieldName, tie('any'), { maxKeys: 4, noNullPrototype: true }),
    fc.dictionary(secret, fc.oneof(fc.integer(), secret), { maxKeys: 4, noNullPrototype: true }),
  ),
})).any;

/** A question's members beyond, or in place of, those of the example. */
const item = fc.record(
  {
    attachments: fc.array(value, { maxLength: 4 }),
    answers: fc.array(value, { maxLength: 3 }),
    voters: fc.dictionary(secret, fc.integer(), { noNullPrototype: true }),
    extraOne: value,
    extraTwo: value,
    author: fc.record({
      id: fc.nat(),
      username: fc.constantFrom('quentinplanted', 'zed.secretive'),
      reputation: fc.nat(),
    }),
    byUser: fc.constantFrom({ quentinplanted: 1 }, { quentinplanted: 2, 'zed.secretive': 3 }),
  },
  { requiredKeys: [], noNullPrototype: true },
);

describe('an overlay that was learned from pages of shapes that nobody knew', () => {
  it('accepts every page that was seen, and holds no value and no key of theirs, nor does the file', () => {
    fc.assert(
      fc.property(fc.array(fc.array(item, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 40 }), (seen) => {
        const one = learner();
        const pages = seen.map((items) => page(...items));
        for (const json of pages) one.observeAnswer(answer(json));
        const { file, overlay } = learnedBy(one);
        for (const planted of SECRETS) {
          expect(file).not.toContain(planted);
          expect(overlay).not.toContain(planted);
        }
        const contract = contractWith(overlay);
        const broken = pages
          .flatMap((json) => judge(contract, json))
          .filter((told) => !told.startsWith('undocumented-field'));
        expect(broken).toEqual([]);
      }),
      { numRuns: 30 },
    );
  }, 120_000);
});
