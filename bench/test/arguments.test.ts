import assert from 'node:assert/strict';
import { test } from 'vitest';
import { isSelected, readArguments } from '../arguments.ts';
import { estimateSeconds } from '../estimate.ts';
import { lateness } from '../measure-all.ts';
import { partNames, wantedParts, wantedScenarios } from '../scenarios/all.ts';
import { comparedScenarios } from '../scenarios/compared.ts';
import { COMPARED, FULL, QUICK } from '../scenarios/effort.ts';

const NAMES = ['hit', 'hit-2k', 'miss-same', 'miss-distinct'];

test('a name selects one part, and a prefix selects all names that start with it', () => {
  const named = (only: string) => NAMES.filter((name) => isSelected(name, [only], NAMES));
  assert.deepEqual(named('hit'), ['hit']);
  assert.deepEqual(named('miss'), ['miss-same', 'miss-distinct']);
});

test('an unknown name is refused with the list of names', () => {
  assert.match(readArguments(['--only', 'hot'], NAMES) as string, /no part called hot; the names: hit, /);
});

test('two ways of running at once are refused', () => {
  assert.equal(typeof readArguments(['--micro', '--profile', 'hit'], NAMES), 'string');
});

test('an unknown option is refused', () => {
  assert.equal(typeof readArguments(['--fast'], NAMES), 'string');
});

test('a part that a quick run leaves out is measured with every server if it is named', () => {
  assert.equal(
    wantedScenarios(QUICK, []).some(({ id }) => id === 'hit-256c'),
    false,
  );
  const [named] = wantedScenarios(QUICK, ['hit-256c']);
  assert.equal(named?.entries.length, 3);
});

test('each server of a scenario has a unique id', () => {
  for (const { id, entries } of [...wantedScenarios(FULL, []), ...wantedScenarios(QUICK, [])]) {
    const ids = entries.map(({ peer }) => peer.id);
    assert.deepEqual([...new Set(ids)], ids, id);
  }
});

test('all parts that a quick run leaves out exist', () => {
  const all = wantedScenarios({ ...QUICK, without: [], withoutPeers: [] }, []);
  const known = new Set(all.flatMap(({ id, entries }) => entries.flatMap(({ peer }) => [peer.id, `${id}/${peer.id}`])));
  for (const one of QUICK.withoutPeers) assert.ok(known.has(one), one);
  for (const one of QUICK.without) assert.ok(partNames().includes(one), one);
});

test('every part has a unique name', () => {
  assert.equal(new Set(partNames()).size, partNames().length);
});

test('a full run is estimated below twenty minutes and a quick one below four, without installation', () => {
  assert.ok(estimateSeconds(FULL, wantedScenarios(FULL, [])) < 18 * 60);
  assert.ok(estimateSeconds(QUICK, wantedScenarios(QUICK, []), wantedParts(QUICK, [])) < 3.75 * 60);
});

test('a comparison with another checkout is estimated below twenty minutes', () => {
  const scenarios = comparedScenarios({ ...COMPARED, count: 1 }, 'other');
  assert.ok(estimateSeconds(FULL, scenarios, []) * COMPARED.count < 20 * 60);
});

test('a run that took longer than its effort allows is late', () => {
  assert.equal(lateness(12 * 60, FULL), undefined);
  assert.match(lateness(13 * 60, FULL) ?? '', /took 13\.0 minutes and may take 12/);
  assert.match(lateness(5 * 60, QUICK) ?? '', /may take 4/);
});

test('ratios come from at least five rounds', () => {
  for (const { count } of [FULL.main, FULL.side, FULL.latency, QUICK.main, COMPARED]) assert.ok(count >= 5);
});
