import { describe, expect, it } from 'vitest';
import { formatLadder, parseLadder } from '../../src/ladder/ladder-text.ts';
import { NOW, stepWith } from './levels.ts';

const state = {
  contract: 'v1',
  since: NOW,
  steps: [stepWith(), stepWith({ operation: 'listUsers', move: 'promoted' })],
};

describe("the text of the ladder's file", () => {
  it('is read as it was written', () => {
    expect(parseLadder(formatLadder(state))).toEqual(state);
  });

  it.each([
    ['nothing', ''],
    ['no JSON', '{"version": 1'],
    ['a list', '[]'],
    ['another version', formatLadder(state).replace('"version": 1', '"version": 2')],
    ['no contract', formatLadder({ ...state, contract: '' })],
    ['an unknown check', formatLadder(state).replace('"responses"', '"undocumented"')],
    ['an unknown move', formatLadder(state).replace('"demoted"', '"raised"')],
    ['a demotion of another check', formatLadder({ ...state, steps: [stepWith({ check: 'permissions' })] })],
    ['a broken instant', formatLadder(state).replace(/"at": "[^"]+"/, '"at": "yesterday"')],
    ['a broken count', formatLadder(state).replace('"judged": 40', '"judged": "40"')],
    ['a step twice', formatLadder({ ...state, steps: [stepWith(), stepWith()] })],
  ])('is refused with %s', (_what, text) => {
    expect(() => parseLadder(text)).toThrow(Error);
  });
});
