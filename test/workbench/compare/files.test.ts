import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { StartFault } from '../../../src/engine/model/fault.ts';
import { readCallers } from '../../../src/workbench/compare/callers.ts';
import { createIdentities } from '../../../src/comparison/identities.ts';
import { formatIds, parseIds } from '../../../src/comparison/ids-file.ts';
import { createNoise, formatNoise, parseNoise } from '../../../src/comparison/noise.ts';
import { createScopePlaces, type Place } from '../../../src/comparison/place.ts';
import { readCompareState, writeCompareState } from '../../../src/workbench/compare/resume.ts';
import { basic } from '../../builders/call.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { tallyOf } from './two-servers.ts';

const folder = tempFolder();

function faultsOf(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (!(error instanceof StartFault)) throw error;
    return error.faults.map(({ source, pointer, message }) => `${source} ${pointer} ${message}`.trim());
  }
}

describe('the file of callers', () => {
  const passwords = { env: { OLD: 'a', NEW: 'b' }, file: (path: string) => join(folder, path) };
  const read = (text: string) => readCallers(text, 'callers.yaml', passwords);

  it('names an account on each server', () => {
    writeFileSync(join(folder, 'secret'), 'from a file\n');
    const text = `
callers:
  - name: anonymous
  - name: moderator
    old: { user: mod, passwordEnv: OLD }
    new: { user: mod2, passwordFile: secret }`;
    expect(read(text)).toEqual([
      { name: 'anonymous', old: undefined, new: undefined },
      { name: 'moderator', old: basic('mod', 'a'), new: basic('mod2', 'from a file') },
    ]);
  });

  it('is rejected with all of its errors, and without any password', () => {
    const text = `
callers:
  - name: a
    old: { user: 'a:b', passwordEnv: OLD }
  - name: a
    old: { user: x, passwordEnv: NONE, password: hunter2 }
    new: { user: x }
  - { name: '', nwe: 1 }`;
    const faults = faultsOf(() => read(text));
    expect(faults).toEqual([
      'callers.yaml /callers/0 must have an account on both servers, or on none',
      'callers.yaml /callers/0/old/user must be a user name without a colon',
      'callers.yaml /callers/1/name is already the name of another caller',
      'callers.yaml /callers/1/old/password unknown key',
      'callers.yaml /callers/1/old/passwordEnv the variable NONE is not set',
      'callers.yaml /callers/1/new must have either passwordEnv or passwordFile',
      'callers.yaml /callers/2/nwe unknown key',
      'callers.yaml /callers/2/name must be a name of at most 60 letters, digits, spaces or . : _ -',
    ]);
    expect(faults.join()).not.toContain('hunter2');
    expect(faultsOf(() => read('callers: []'))).toHaveLength(1);
    expect(faultsOf(() => read('callers: ['))).toHaveLength(1);
  });
});

describe('the file of noise rules', () => {
  const rule = { operation: 'listIdeas', at: '/list/*/score', reason: 'it: counts', owner: 'a "team"', until: '2026-12-31' };

  it('is read as it was written', () => {
    expect(parseNoise(formatNoise([rule]), 'noise.yaml', ['listIdeas'])).toEqual({ rules: [rule], faults: [] });
    expect(parseNoise(formatNoise([]), 'noise.yaml', [])).toEqual({ rules: [], faults: [] });
  });

  it('is rejected with all of its errors', () => {
    const text = `
noise:
  - { operation: listIdea, at: 'list', reason: r, owner: o, until: soon }
  - { operation: listIdeas, at: /list, reason: '', owner: o, until: '2026-02-30', who: me }
  - 5`;
    expect(parseNoise(text, 'noise.yaml', ['listIdeas']).faults.map(({ pointer }) => pointer)).toEqual([
      '/noise/0/operation',
      '/noise/0/at',
      '/noise/0/until',
      '/noise/1/who',
      '/noise/1/reason',
      '/noise/1/until',
      '/noise/2',
    ]);
    expect(parseNoise('- a', 'noise.yaml', []).faults).toHaveLength(1);
  });

  it('reports rules that match nothing, and rules whose last day has passed', () => {
    const past = { ...rule, until: '2026-01-01' };
    const other = { ...rule, at: '/list/*/scores' };
    const noise = createNoise([rule, past, other].toReversed(), Date.parse('2026-06-01'));
    expect(noise.ruleFor('listIdeas', '/list/*/score')).toEqual(rule);
    expect(noise.ruleFor('listArticles', '/list/*/score')).toBeUndefined();
    expect(noise.ruleFor('listIdeas', '/list/*/score/x')).toBeUndefined();
    expect(noise.unused()).toEqual([other]);
    expect(noise.expired).toEqual([past]);
  });

  it('applies on the whole last day', () => {
    const at = (now: string) => createNoise([rule], Date.parse(now)).expired.length;
    expect([at('2026-12-31T23:59:59Z'), at('2027-01-01T00:00:00Z')]).toEqual([0, 1]);
  });
});

describe('ids', () => {
  const place = (at: string): Place =>
    createScopePlaces({ operation: 'x', status: 200, role: 'a' }, undefined).body.member(at);

  it('are written and read as pairs', () => {
    const pairs = [{ space: 'node', old: '1', new: '100001' }];
    expect(parseIds(formatIds(pairs), 'ids.csv')).toEqual(pairs);
    expect(faultsOf(() => parseIds('kind,old,new\nnode,1,2\nnode,1,3\nnode;4;5\n', 'ids.csv'))).toEqual([
      'ids.csv:3  contradicts an earlier line: each id has only one counterpart',
      'ids.csv:4  must be kind,old,new',
    ]);
  });

  it('have at most one counterpart of each kind', () => {
    const ids = createIdentities('learned');
    expect(ids.match('node', '1', '11', place('a'))).toBe('paired');
    expect(ids.match('node', '1', '12', place('a'))).toBe('broken');
    expect(ids.match('node', '2', '11', place('a'))).toBe('broken');
    expect(ids.match('user', '1', '12', place('a'))).toBe('paired');
    expect(ids.match('node', '1', '11', place('b'))).toBe('paired');
    expect(ids.takeRefuted()).toEqual([]);
  });

  it('of items outweigh those of references, whose places are then wrong', () => {
    const ids = createIdentities('learned');
    const wrong = place('author');
    expect(ids.match('node', '1', '12', wrong)).toBe('paired');
    expect(ids.match('node', '1', '11', place('id'), true)).toBe('paired');
    expect(ids.takeRefuted()).toEqual([wrong]);
    expect([ids.toNew('node', '1'), ids.toOld('node', '12')]).toEqual(['11', undefined]);
    expect(ids.match('node', '1', '13', place('id'), true)).toBe('broken');
  });

  it('must be in the file if they are given', () => {
    const ids = createIdentities('given', [{ space: 'node', old: '1', new: '11' }]);
    expect(ids.match('node', '1', '11', place('a'))).toBe('paired');
    expect(ids.match('node', '2', '12', place('a'))).toBe('broken');
    expect(() =>
      createIdentities('given', [
        { space: 'node', old: '1', new: '11' },
        { space: 'node', old: '2', new: '11' },
      ]),
    ).toThrow('another counterpart');
  });

  it('in a text may be of any kind, but not that of another thing', () => {
    const ids = createIdentities('learned');
    ids.match('node', '5', '105', place('a'), true);
    expect(ids.matchAny('5', '105', place('b'), true)).toBe('paired');
    expect(ids.matchAny('5', '106', place('b'), true)).toBe('broken');
    expect(ids.matchAny('5', '5', place('b'), true)).toBe('broken');
    expect(ids.matchAny('7', '7', place('b'), true)).toBe('same');
    expect(ids.matchAny('8', '9', place('b'), true)).toBe('paired');
    expect(ids.matchAny('8', '10', place('b'), true)).toBe('broken');
  });
});

describe('the file from which a comparison continues', () => {
  it('belongs to one comparison', () => {
    const file = join(folder, 'state.json');
    expect(readCompareState(file, 'a')).toBeUndefined();
    const tally = tallyOf();
    tally.notMade('asked already', 3);
    writeCompareState(file, { subject: 'a', position: 7, tally: tally.save(), ids: [] });
    const state = readCompareState(file, 'a');
    expect(state?.position).toBe(7);
    expect(tallyOf(state?.tally).counts()).toMatchObject({ exchanges: 3, notMade: 3, notMadeBecause: { 'asked already': 3 } });
    expect(() => readCompareState(file, 'b')).toThrow('another comparison');
    writeFileSync(file, '{"version":9}');
    expect(() => readCompareState(file, 'a')).toThrow('another version');
  });
});
