import { describe, expect, it } from 'vitest';
import { createIdentities } from '../../src/comparison/identities.ts';
import { formatIds, isLearned, parseIds } from '../../src/comparison/ids-file.ts';
import { createScopePlaces, type Place } from '../../src/comparison/place.ts';
import { faultsOf } from '../workbench/compare/two-servers.ts';

describe('ids', () => {
  const place = (at: string): Place =>
    createScopePlaces({ operation: 'x', status: 200, role: 'a', isOpen: false }, undefined).body.member(at);

  it('are written and read as pairs', () => {
    const pairs = [
      { space: 'node', old: '1', new: '100001' },
      // Ids without a kind in the contract belong to the place of their list.
      { space: '/list/*/attachments/*/id', old: '237', new: '100237' },
    ];
    expect(parseIds(formatIds(pairs), 'ids.csv')).toEqual(pairs);
    expect([formatIds(pairs), 'kind,old,new\nnode,1,2\n'].map(isLearned)).toEqual([true, false]);
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
    const post = (old: string, next: string) => ids.matchAny(old, next, place('b'), '<a href="/posts/');
    expect(post('5', '105')).toBe('paired');
    expect(post('5', '106')).toBe('broken');
    expect(post('5', '5')).toBe('broken');
    expect(post('7', '7')).toBe('same');
    // Nothing but this text relates them.
    expect(post('8', '9')).toBe('assumed');
    expect(post('8', '10')).toBe('broken');
    // Where no address tells the kind, any kind counts.
    expect(ids.matchAny('5', '106', place('slug'), 'why-')).toBe('broken');
    expect(ids.takeRefuted()).toEqual([]);
  });

  it('in a text may have the number of a thing of another kind', () => {
    const ids = createIdentities('learned');
    ids.match('node', '5', '105', place('a'), true);
    ids.match('node', '6', '106', place('a'), true);
    const user = (old: string, next: string) => ids.matchAny(old, next, place('users'), '/users/');
    // No response shows users, but two of them contradict no less than one.
    expect([user('5', '900'), user('6', '901'), user('6', '902')]).toEqual(['assumed', 'assumed', 'broken']);
    ids.settle();
    expect(ids.takeRefuted()).toEqual([]);
  });

  it('in a text are wrong as soon as the others show their kind, and at the latest at the end', () => {
    const ids = createIdentities('learned');
    for (const id of ['5', '6', '7']) ids.match('node', id, `10${id}`, place('a'), true);
    const early = place('early');
    expect(ids.matchAny('5', '106', early, '/posts/')).toBe('assumed');
    expect(ids.takeRefuted()).toEqual([]);
    expect(ids.matchAny('7', '107', place('b'), '/posts/')).toBe('paired');
    expect(ids.takeRefuted()).toEqual([early]);
    // The only one of its kind, and those that are still the ids of the old server.
    const [single, same] = [place('single'), place('same')];
    expect(ids.matchAny('5', '106', single, '/single/')).toBe('assumed');
    for (const id of ['5', '6']) expect(ids.matchAny(id, id, same, '/same/')).toBe('same');
    expect(ids.takeRefuted()).toEqual([]);
    ids.settle();
    expect(ids.takeRefuted()).toEqual([single, same]);
  });

  it('are known, and as certain or doubtful as before, after they were saved', () => {
    const [early, reference, at] = [place('early'), place('reference'), place('a')];
    const begin = createIdentities('learned');
    for (const id of ['5', '6', '7']) begin.match('node', id, `10${id}`, at, true);
    begin.match('user', '1', '99', reference);
    begin.matchAny('5', '106', early, '/posts/');
    const places: Place[] = [];
    const text = JSON.stringify(begin.save((one) => places.push(one) - 1));
    const ids = createIdentities('learned', [{ space: 'node', old: '5', new: '1' }]);
    ids.restore(JSON.parse(text) as ReturnType<typeof begin.save>, (number) => places[number] as Place);
    expect([...ids.pairs()]).toEqual([...begin.pairs()]);
    // What was only learned from a reference gives way to what is certain, and what was doubtful can be shown to be wrong.
    expect(ids.match('user', '1', '101', at, true)).toBe('paired');
    expect(ids.matchAny('7', '107', at, '/posts/')).toBe('paired');
    expect(ids.takeRefuted()).toEqual([reference, early]);
  });
});
