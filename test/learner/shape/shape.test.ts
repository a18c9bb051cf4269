import { describe, expect, it } from 'vitest';
import { learnedBy, learner, page, response } from '../learned.ts';

/** Samples one page for each value of a question field, and returns the resulting proposals. */
function proposed(values: readonly unknown[], members: Readonly<Record<string, unknown>> = {}): string {
  const one = learner();
  for (const value of values) one.sampleResponse(response(page({ field: value, ...members })));
  const { file, overlay } = learnedBy(one);
  return file + overlay;
}

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

describe('the names of undocumented fields', () => {
  it('are shown after three responses, and not before', () => {
    expect(proposed(times(2, () => ({ serialNumber: 1 })))).not.toContain('serialNumber');
    expect(proposed(times(3, () => ({ serialNumber: 1 })))).toContain('serialNumber');
  });

  it('are not shown if they contain an email address, a token, a space, an id or text that is not a field name', () => {
    const keys = ['a.b@example.org', 'Jana Nov', 'u4711', 'deadbeefdeadbeef', 'š', 'x.y', '7', 'Ab1Cd2Ef3Gh4'];
    const text = proposed(times(5, () => Object.fromEntries(keys.map((key) => [key, 1]))));
    expect(keys.filter((key) => text.includes(`"${key}"`) || text.includes(`${key}:`))).toEqual([]);
    expect(text).toContain('additionalProperties');
  });

  it('are not shown if a person has that name, even if that becomes known only later', () => {
    const one = learner();
    for (const id of times(5, (at) => at))
      one.sampleResponse(response(page({ score: 1, seenBy: { quentinHolm: 1, id } })));
    expect(learnedBy(one).overlay).toContain('quentinHolm');
    one.sampleResponse(response(page({ author: { id: 1, username: 'quentinHolm', reputation: 3 } })));
    const { file, overlay } = learnedBy(one);
    expect(file + overlay).not.toContain('quentinHolm');
  });

  it('are not shown if they consist of words of a person’s name, joined in any way', () => {
    const one = learner();
    const names = ['Jana', 'nováková', 'janaNovakova', 'novakova_jana', 'dvorak', 'size'];
    const tally = Object.fromEntries(names.map((name) => [name, { at: 1 }]));
    const author = { id: 1, username: 'p.dvorak@example.org', realname: 'Jana Nováková', reputation: 3 };
    for (const _ of times(5, () => 0)) one.sampleResponse(response(page({ recent: tally, editor: author })));
    const { file, overlay } = learnedBy(one);
    expect(file + overlay).not.toMatch(/jana|novak|dvorak/i);
  });

  it('are shown for records that also have non-ASCII keys or keys that start with an underscore', () => {
    const one = learner();
    for (const at of times(5, (count) => count))
      one.sampleResponse(
        response(
          page({
            karma: { total: at },
            flag: true,
            _links: { self: 'x' },
            sha256: 'x',
            příznak: {},
            größe: 'x',
            '@id': true,
          }),
        ),
      );
    const { overlay } = learnedBy(one);
    for (const name of ['karma', 'flag', '_links', 'sha256']) expect(overlay).toContain(`Question.${name}`);
    expect(overlay).not.toMatch(/příznak|größe|@id/);
  });

  it('are shown even if a person has that name, if the contract has the name too', () => {
    const one = learner();
    for (const _ of times(5, () => 0))
      one.sampleResponse(
        response(
          page({
            follower: { moderator: true, active: true },
            author: { id: 1, username: 'moderator', reputation: 3 },
          }),
        ),
      );
    expect(learnedBy(one).overlay).toMatch(/moderator:\n\s+type: boolean/);
  });

  it('count as keys of a map if they differ between objects and have values of the same shape', () => {
    const people = ['alice', 'bob', 'carol', 'dave', 'erin', 'frank', 'grace', 'heidi'];
    const text = proposed(times(24, (at) => ({ [people[at % 8] ?? '']: at, [people[(at + 3) % 8] ?? '']: at })));
    expect(people.filter((name) => text.includes(name))).toEqual([]);
    expect(text).toMatch(/additionalProperties:\n\s+type: integer/);
  });

  it('count as keys of a map if the name of the containing field indicates one', () => {
    const text = proposed(
      times(4, () => 'x'),
      { votesBy: { alice: 1, bob: 2 } },
    );
    expect(text).not.toMatch(/alice|bob/);
    expect(text).toMatch(/votesBy:\n\s+type: object\n\s+additionalProperties:\n\s+type: integer/);
  });

  it.each(['codeReviewers', 'assignees', 'watchers', 'staff'])(
    'count as keys of a map in a field for people: %s',
    (holder) => {
      const people = { jana: 1, 'petr-dvorak': 2, lidaBila: 3 };
      expect(
        proposed(
          times(9, () => 'x'),
          { [holder]: people },
        ),
      ).not.toMatch(/jana|petr|lida/);
    },
  );

  it('count as keys of a map if there are too many for a record', () => {
    const words = times(120, (at) => `word${String.fromCodePoint(97 + (at % 26), 97 + Math.floor(at / 26))}x`);
    const text = proposed(times(4, () => Object.fromEntries(words.map((word) => [word, 1]))));
    expect(words.filter((word) => text.includes(word))).toEqual([]);
  });

  it('remain fields of a record that also has one key that is data', () => {
    const text = proposed(times(5, () => ({ alpha: 1, beta: 'x', gamma: 2, delta: 3, 'jana@example.org': 4 })));
    expect(text).toMatch(/alpha:\n\s+type: integer/);
    expect(text).not.toContain('jana');
  });

  it('count as data, like the keys beside them, if their values are similar and not always present', () => {
    const text = proposed(
      times(6, (at) =>
        at % 2 === 0 ? { 'jana@example.org': 1, zoe: 2 } : { 'max@example.org': 1, kim: 2, size: 'x' },
      ),
    );
    expect(text).not.toMatch(/zoe|kim/);
  });
});
