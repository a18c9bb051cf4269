import { describe, expect, it } from 'vitest';
import { endOfDay, isDay, parseBaseline } from '../../../src/ledger/baseline/parse-baseline.ts';

describe('a baseline file', () => {
  const ENTRY = { fingerprint: 'a123456789abcdef', reason: 'known since 2019', owner: 'team search' };
  const faultsOf = (text: string) => parseBaseline(text, 'baseline.yaml').faults;
  const withEntry = (more: object) => JSON.stringify({ accepted: [{ ...ENTRY, ...more }] });

  it('is read with all fields of an entry', () => {
    const text = `
# ours
accepted:
  - fingerprint: a123456789abcdef
    reason: known since 2019
    owner: team search
    expires: 2026-12-31
    summary: id is text
  - { fingerprint: 'b123456789abcdef', reason: r, owner: o }
`;
    expect(parseBaseline(text, 'b').baseline?.accepted).toEqual([
      { ...ENTRY, expires: '2026-12-31', summary: 'id is text' },
      { fingerprint: 'b123456789abcdef', reason: 'r', owner: 'o', expires: undefined, summary: undefined },
    ]);
  });

  it.each(['', '# nothing yet\n', 'accepted:\n', 'accepted: []\n', '---\n'])('may be empty: %j', (text) => {
    expect(parseBaseline(text, 'b').baseline).toEqual({ accepted: [] });
  });

  it.each<[string, string, object]>([
    ['a list instead of a mapping', '[1]', { pointer: '', message: /must be a mapping/ }],
    ['another key', 'accept: []', { pointer: '/accept', message: /unknown key/, suggestion: 'accepted' }],
    ['a number instead of a list', 'accepted: 7', { pointer: '/accepted', message: /must be a list/ }],
    ['an entry that is not a mapping', 'accepted: [x]', { pointer: '/accepted/0', message: /must be a mapping/ }],
    ['no reason', withEntry({ reason: undefined }), { pointer: '/accepted/0', message: /must have reason/ }],
    ['an empty owner', withEntry({ owner: ' ' }), { pointer: '/accepted/0/owner', message: /must be text/ }],
    [
      'an invalid fingerprint',
      withEntry({ fingerprint: 'abc' }),
      { pointer: '/accepted/0/fingerprint', message: /16 hexadecimal/ },
    ],
    ['a number', withEntry({ fingerprint: 1234 }), { pointer: '/accepted/0/fingerprint', message: /must be text/ }],
    [
      'a date that does not exist',
      withEntry({ expires: '2026-02-30' }),
      { pointer: '/accepted/0/expires', message: /a date/ },
    ],
    ['a misspelt key', withEntry({ expire: '2026-02-03' }), { pointer: '/accepted/0/expire', suggestion: 'expires' }],
    [
      'a repeated violation',
      JSON.stringify({ accepted: [ENTRY, ENTRY] }),
      { pointer: '/accepted/1/fingerprint', message: /already accepted by \/accepted\/0/ },
    ],
    [
      'an entry below an empty flow list',
      'accepted: []\n  - fingerprint: a123456789abcdef\n    reason: r\n    owner: o\n',
      { pointer: '', suggestion: expect.stringContaining('"accepted:" on its own line') as string },
    ],
    ['broken YAML', 'accepted: [', { pointer: '', message: /./ }],
    ['a repeated key', 'accepted: []\naccepted: []\n', { pointer: '', message: /duplicate key/ }],
  ])('causes a configuration error with its location: %s', (_name, text, fault) => {
    const wanted = Object.fromEntries(
      Object.entries(fault).map(([key, value]) => [
        key,
        value instanceof RegExp ? expect.stringMatching(value) : value,
      ]),
    );
    expect(faultsOf(text)).toContainEqual(expect.objectContaining(wanted));
  });

  it('has errors that name the line', () => {
    expect(faultsOf('accepted:\n  - reason: x\n    owner: y\n')[0]?.source).toBe('baseline.yaml:2');
  });

  it('has all its errors reported in one run', () => {
    expect(faultsOf(JSON.stringify({ accepted: [{}, { ...ENTRY, expires: 'soon' }] }))).toHaveLength(4);
  });
});

describe('an expiry date', () => {
  it.each([
    ['2026-12-31', true],
    ['2024-02-29', true],
    ['2026-02-29', false],
    ['2026-13-01', false],
    ['2026-1-1', false],
    ['soon', false],
  ])('%s is valid: %s', (text, valid) => {
    expect(isDay(text)).toBe(valid);
  });

  it('ends when the next day begins', () => {
    expect(endOfDay('2026-12-31')).toBe(Date.UTC(2027, 0, 1));
  });
});
