import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../builders/property-runs.ts';
import { advise, contractWith, judge, learnedBy, learner, LIMITS, page, response } from '../../../learner/learned.ts';

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

/** Values of every type. Secrets occur both as values and as the keys of maps. */
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

/** Generates members of a question. They replace members of the example or are added to it. */
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
    // Ids repeat, so some items are returned several times, each time with different members.
    id: fc.nat(60),
    byUser: fc.constantFrom({ quentinplanted: 1 }, { quentinplanted: 2, 'zed.secretive': 3 }),
  },
  { requiredKeys: [], noNullPrototype: true },
);

describe('an overlay learned from pages of unknown shapes', () => {
  it('accepts every sampled page and contains none of their values and map keys, nor does the file', () => {
    fc.assert(
      fc.property(fc.array(fc.array(item, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 40 }), (seen) => {
        const one = learner();
        const pages = seen.map((items) => page(...items));
        for (const json of pages) one.sampleResponse(response(json));
        const { file, overlay } = learnedBy(one);
        for (const planted of SECRETS) {
          expect(file).not.toContain(planted);
          expect(overlay).not.toContain(planted);
        }
        const contract = contractWith(overlay);
        const broken = pages
          .flatMap((json) => judge(contract, json))
          .filter((statement) => !statement.startsWith('undocumented-field'));
        expect(broken).toEqual([]);
      }),
      { numRuns: propertyRuns(8) },
    );
  });
});

const attachment = (at: number) => ({ fileId: at, label: 'x', madeDate: '2026-05-04' });
const seen = (members: (at: number) => Record<string, unknown>) => {
  const one = learner();
  for (let at = 0; at < 30; at += 1) one.sampleResponse(response(page(members(at))));
  return contractWith(learnedBy(one).overlay);
};

const badges = (count: number, size: number) =>
  Array.from({ length: count }, () => page(...Array.from({ length: size }, () => ({ badge: 1 }))));
const dated = (count: number) => Array.from({ length: count }, () => ({ badge: 1, attachments: [attachment(1)] }));

function fieldOf(pages: readonly unknown[]) {
  const one = learner();
  for (const json of pages) one.sampleResponse(response(json));
  const { proposals, overlay } = learnedBy(one);
  return { confidence: proposals.find(({ place }) => place === 'Question.badge')?.confidence ?? 0, overlay };
}

describe('the confidence of a proposal', () => {
  it('depends on responses: many items from few responses add little', () => {
    const three = fieldOf(badges(3, 1)).confidence;
    const crowded = fieldOf(badges(3, 200)).confidence;
    expect(crowded).toBeGreaterThan(three);
    expect(crowded).toBeLessThan(fieldOf(badges(6, 1)).confidence);
    expect(fieldOf(badges(25, 1)).confidence).toBeGreaterThan(0.85);
  });

  it('is too low for expected fields and patterns after hundreds of items from three responses', () => {
    const few = fieldOf([1, 2, 3].map(() => page(...dated(100)))).overlay;
    expect(few).toContain('madeDate');
    expect(few).not.toMatch(/required:|expected:|pattern:/);
    const many = fieldOf(Array.from({ length: 12 }, () => page(...dated(100)))).overlay;
    expect(many).toMatch(/x-expected:\n\s+- fileId/);
    expect(many).toContain('pattern:');
  });

  it('is that of the rarest word for vocabularies, and words below the minimum are omitted individually', () => {
    const one = learner();
    for (let at = 0; at < 30; at += 1) {
      const states = at % 10 === 0 ? ['locked', 'frozen'] : ['locked'];
      one.sampleResponse(response(page({ nodeStates: states }, { nodeStates: ['by somebody'] })));
    }
    const words = (minConfidence: number) =>
      learnedBy(one, { ...LIMITS, minConfidence }).proposals.filter(({ kind }) => kind === 'words');
    expect(words(0.4)).toMatchObject([
      { statement: expect.stringContaining('was also frozen, locked') as string, evidence: { seen: 3, answers: 3 } },
    ]);
    expect(words(0.7)).toMatchObject([
      { statement: expect.stringContaining('was also locked') as string, evidence: { seen: 30, answers: 30 } },
    ]);
  });
});

describe('a contract with a learned overlay', () => {
  it('finds attachments of another shape, which were undefined before', () => {
    const contract = seen((at) => ({ attachments: [attachment(at)] }));
    expect(judge(contract, page({ attachments: [attachment(1)] }))).toEqual([]);
    expect(judge(contract, page({ attachments: [{ ...attachment(1), label: 7 }] }))).toEqual([
      'type /list/0/attachments/0/label',
    ]);
    const incomplete = page({ attachments: [{ fileId: 1, label: 'x' }] });
    expect(judge(contract, incomplete)).toEqual([]);
    expect(advise(contract, incomplete)).toEqual(['x-expected /list/0/attachments/0/madeDate']);
    const otherForm = page({ attachments: [{ ...attachment(1), madeDate: 'today' }] });
    expect(judge(contract, otherForm)).toEqual([]);
    expect(advise(contract, otherForm)).toEqual(['x-expected-pattern /list/0/attachments/0/madeDate']);
    expect(judge(contractWith(''), page({ attachments: [7] }))).toEqual([]);
  });

  it('accepts a sampled object in place of a text, and reports a different one', () => {
    const contract = seen((at) => ({ body: { html: 'x', size: at } }));
    expect(judge(contract, page({ body: 'x' }))).toEqual([]);
    expect(judge(contract, page({ body: { html: 'x', size: 1 } }))).toEqual([]);
    expect(judge(contract, page({ body: { html: 'x', size: 'x', more: 1 } }))).toEqual(['type /list/0/body/size']);
    expect(judge(contract, page({ body: { html: 'x' } }))).toEqual([]);
    expect(advise(contract, page({ body: { html: 'x' } }))).toEqual(['x-expected /list/0/body/size']);
    expect(judge(contract, page({ body: 7 }))).toEqual(['type /list/0/body']);
  });

  it('marks personal data in a text in place of a number', () => {
    const one = learner();
    for (let at = 0; at < 5; at += 1) one.sampleResponse(response(page({ score: `jana${at}@example.org` })));
    const { overlay } = learnedBy(one);
    expect(overlay).toMatch(/score[^]*x-pii: email/);
    expect(judge(contractWith(overlay), page({ score: 'jana@example.org' }))).toEqual([]);
  });

  it('expects a field only if it was always present', () => {
    const contract = seen((at) => ({ badge: at, ...(at % 2 === 0 && { medal: 'x' }) }));
    expect(judge(contract, page({ badge: 1 }))).toEqual([]);
    expect(judge(contract, page({}))).toEqual([]);
    expect(advise(contract, page({}))).toEqual(['x-expected /list/0/badge']);
  });

  it('accepts values of the learned type under any key of a map, and reports values of other types', () => {
    const contract = seen((at) => ({ votesBy: { [`user${at}`]: at } }));
    expect(judge(contract, page({ votesBy: { 'someone else': 1 } }))).toEqual([]);
    expect(judge(contract, page({ votesBy: { 'someone else': 'x' } }))).toHaveLength(1);
  });

  it('reports a word that is missing from a closed vocabulary', () => {
    const one = learner();
    for (let at = 0; at < 90; at += 1)
      one.sampleResponse(response(page({ nodeStates: at % 2 === 0 ? ['closed'] : ['closed', 'locked'] })));
    const { overlay } = learnedBy(one);
    expect(overlay).toContain('Seen: closed, locked');
    const contract = contractWith(overlay);
    expect(judge(contract, page({ nodeStates: ['locked'] }))).toEqual([]);
    expect(judge(contract, page({ nodeStates: ['frozen'] }))).toEqual([]);
    expect(advise(contract, page({ nodeStates: ['frozen'] }))).toEqual(['x-expected-enum /list/0/nodeStates/0']);
  });

  it('does not store a value that is not a word or may be a name, and does not close a vocabulary with one', () => {
    const one = learner();
    const author = { id: 1, username: 'janacerny', reputation: 1 };
    for (let at = 0; at < 90; at += 1)
      one.sampleResponse(response(page({ author, nodeStates: ['closed', 'by jana', 'janacerny'] })));
    const { overlay, file } = learnedBy(one);
    expect(file + overlay).not.toContain('jana');
    expect(judge(contractWith(overlay), page({ nodeStates: ['frozen'] }))).toEqual([]);
  });
});

describe('the words of a proposal', () => {
  const statements = (one: ReturnType<typeof learner>) =>
    learnedBy(one).proposals.flatMap(({ place, statement }) => (place.endsWith('extra') ? [statement] : []));

  it('call a member that every object had always present, even if there were few objects', () => {
    const one = learner();
    for (let at = 0; at < 4; at += 1) {
      const rare = at === 0 ? { often: 1 } : {};
      one.sampleResponse(response(page({ extra: { flag: true, nested: [{ sizeKb: at }], ...rare } })));
    }
    expect(statements(one)).toEqual(['exists and is object with 2 fields (flag, nested)']);
  });

  it('call a member that some objects lacked sometimes present', () => {
    const one = learner();
    for (let at = 0; at < 24; at += 1)
      one.sampleResponse(response(page({ extra: { flagged: true, ...(at % 2 === 0 ? { sizeKb: at } : {}) } })));
    expect(statements(one)).toEqual([expect.stringMatching(/\(flagged; sometimes sizeKb\)/)]);
  });
});
