import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  formatFormerLadder,
  formatFormerOverrides,
  parseFormerLadder,
  parseFormerOverrides,
} from '../../../src/features/levels/former-files.ts';
import { decisionWith, NOW, overrideWith } from './entries.ts';

/** Returns the text of a file that an earlier version wrote. */
const former = (name: string) => readFileSync(join(import.meta.dirname, 'former', name), 'utf8');

describe('a file of the ladder that an earlier version wrote', () => {
  it('is read completely, and formatted as it was', () => {
    const text = former('ladder.json');
    const state = parseFormerLadder(text);
    expect(state).toMatchObject({
      contracts: [{ contract: '6da2a601cd8f', since: Date.parse('2026-05-04T10:30:15.250Z') }],
      entries: [
        { operation: 'listQuestions', check: 'responses', move: 'promoted', judged: 5, windowSeconds: 3600 },
        { operation: 'listArticles', check: 'responses', move: 'lifted' },
        { operation: 'listIdeas', check: 'responses', move: 'demoted', judged: 4, failed: 4 },
      ],
    });
    expect(formatFormerLadder(state)).toBe(text);
  });

  const state = { contracts: [{ contract: 'v', since: NOW }], entries: [decisionWith()] };
  const text = formatFormerLadder(state);
  it.each([
    ['', 'it is not JSON'],
    [text.replace('"version": 1', '"version": 2'), 'version must be 1'],
    [text.replace('"v"', '""'), 'contract must be text'],
    ['{"version":1,"contract":"v"}', 'steps must be a list'],
    [text.replace(/"at": "[^"]+"/, '"at": "yesterday"'), 'steps[0].at must be an instant'],
    [text.replace('"responses"', '"undocumented"'), 'steps[0].check is not a check of the ladder'],
    [formatFormerLadder({ ...state, entries: [decisionWith(), decisionWith()] }), 'two entries for the same check'],
  ])('is rejected if it is damaged: %#', (damaged, message) => {
    expect(() => parseFormerLadder(damaged)).toThrow(message);
  });
});

describe('a file of overrides that an earlier version wrote', () => {
  it('is read completely, and formatted as it was', () => {
    const text = former('overrides.json');
    const entries = parseFormerOverrides(text);
    expect(entries).toMatchObject([
      { source: 'operator', operation: 'listIdeas', check: 'requests', level: 'report', by: 'alice' },
      { source: 'operator', operation: 'listQuestions', kind: 'force-stale', maxStaleSeconds: 600 },
      { source: 'operator', operation: 'listActions', kind: 'disable', by: 'bob' },
    ]);
    expect(formatFormerOverrides(entries)).toBe(text);
  });

  const stored = (more: object) => ({
    operation: 'listIdeas',
    kind: 'disable',
    reason: 'x',
    setAt: '2026-05-04T10:00:00Z',
    until: '2026-05-04T11:00:00Z',
    ...more,
  });
  it.each([
    ['', 'it is not JSON'],
    ['[]', 'the file must be an object'],
    ['{"version":2,"overrides":[]}', 'version must be 1'],
    ['{"version":1}', 'overrides must be a list'],
    ['{"version":1,"overrides":[7]}', 'overrides[0] must be an object'],
    [[stored({ setAt: 'now' })], 'overrides[0].setAt must be an instant'],
    [[stored({ operation: 7 })], 'overrides[0].operation must be text'],
    // It must not be possible to bypass the rules for operators by editing the file.
    [[stored({}), stored({ until: '2026-06-04T11:00:00Z' })], 'overrides[1].until: The end must be at most 168 hours'],
    [[stored({ kind: 'level', check: 'permissions', level: 'off' })], 'overrides[0].check:'],
    [[stored({ reason: '' })], 'overrides[0].reason:'],
  ])('is rejected if it is damaged: %j', (content, message) => {
    const text = typeof content === 'string' ? content : JSON.stringify({ version: 1, overrides: content });
    expect(() => parseFormerOverrides(text)).toThrow(message);
  });

  it('contains nothing about the source of an override', () => {
    expect(formatFormerOverrides([overrideWith()])).not.toContain('operator');
  });
});
