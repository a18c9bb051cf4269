import { describe, expect, it } from 'vitest';
import {
  type AuthorLookup,
  createAuthorLookup,
  createOwnership,
  ownershipOf,
} from '../../../src/engine/permissions/ownership.ts';
import { PERMISSIONS_DEFAULTS } from '../../../src/engine/permissions/permissions-options.ts';
import { principal } from './permissions-fixtures.ts';

describe('ownership', () => {
  const OPTIONS = { ...PERMISSIONS_DEFAULTS.ownership, maxEntries: 2, maxAgeSeconds: 60 };
  const alice = principal('verified', 'alice');
  const BIG_ID = '9007199254740993';

  function remembering(lookUp?: AuthorLookup) {
    const time = { now: Date.UTC(2024, 4, 1) };
    return { time, ownership: createOwnership(OPTIONS, () => time.now, 'exact', lookUp) };
  }

  describe('ownership (docs/rules.md §3)', () => {
    it('comes from valid responses', async () => {
      const { ownership } = remembering();
      ownership.learn(BIG_ID, 'alice');
      ownership.learn('2', 'bob');
      await expect(ownership.of(alice, BIG_ID)).resolves.toBe('own');
      await expect(ownership.of(alice, '2')).resolves.toBe('other');
      await expect(ownership.of(alice, '9007199254740992')).resolves.toBe('unknown');
    });

    it('is remembered for longer each time that a response contains it', () => {
      const { ownership, time } = remembering();
      ownership.learn('1', 'alice');
      time.now += 59_000;
      ownership.learn('1', 'alice');
      time.now += 59_000;
      expect(ownership.authorOf('1')).toBe('alice');
      time.now += 1_000;
      expect(ownership.authorOf('1')).toBeUndefined();
    });

    it('comes from one configured lookup if no response contained it', async () => {
      const asked: unknown[] = [];
      const { ownership } = remembering(async (nodeId, who) => {
        asked.push([nodeId, who.name]);
        return 'alice';
      });
      await expect(ownership.of(alice, '1')).resolves.toBe('own');
      await expect(ownership.of(principal('verified', 'bob'), '1')).resolves.toBe('other');
      expect(asked).toEqual([['1', 'alice']]);
    });

    it('is unknown if the lookup fails or returns nothing', async () => {
      await expect(remembering(() => Promise.reject(new Error('away'))).ownership.of(alice, '1')).resolves.toBe(
        'unknown',
      );
      await expect(remembering(async () => undefined).ownership.of(alice, '1')).resolves.toBe('unknown');
    });

    it('is never granted to unverified or anonymous callers', async () => {
      const { ownership } = remembering(async () => 'alice');
      ownership.learn('1', 'alice');
      await expect(ownership.of(principal('unverified', 'alice'), '1')).resolves.toBe('unknown');
      await expect(ownership.of(principal('anonymous'), '1')).resolves.toBe('other');
      await expect(remembering().ownership.of(principal('anonymous'), '1')).resolves.toBe('other');
    });

    // Any client can claim any name. Without this guard, each claim would cause an upstream request, even without a
    // valid credential.
    it('does not cause a lookup for an unverified caller', async () => {
      const asked: string[] = [];
      const { ownership } = remembering(async (nodeId) => {
        asked.push(nodeId);
        return 'alice';
      });
      await ownership.of(principal('unverified', 'alice'), '1');
      await ownership.of(principal('anonymous'), '1');
      expect(asked).toEqual([]);
    });

    it('is cached for a limited time and a bounded number of nodes', () => {
      const { ownership, time } = remembering();
      for (const id of ['1', '2', '3']) ownership.learn(id, 'alice');
      expect(['1', '2', '3'].map((id) => ownership.authorOf(id))).toEqual([undefined, 'alice', 'alice']);
      time.now += 60_000;
      expect(ownership.authorOf('3')).toBeUndefined();
    });
  });

  describe('the lookup of an author', () => {
    const options = { ...OPTIONS, lookup: '/services/v2/node/{nodeId}.json' };

    it('requests the node with the credential of the caller and reads the author at the pointer', async () => {
      const lookUp = createAuthorLookup(options, async (target, who) => {
        expect([target, who]).toEqual(['/services/v2/node/1%2F..%2F2.json', alice]);
        return { author: { username: 'bob' } };
      });
      await expect(lookUp?.('1/../2', alice)).resolves.toBe('bob');
    });

    it('follows an escaped pointer', async () => {
      const lookUp = createAuthorLookup({ ...options, authorPointer: '/a~1b/~01' }, async () => ({
        'a/b': { '~1': 'bob' },
      }));
      await expect(lookUp?.('1', alice)).resolves.toBe('bob');
    });

    it.each([
      [undefined],
      [null],
      ['text'],
      [{}],
      [{ author: null }],
      [{ author: { username: 7 } }],
      [{ author: { username: '' } }],
    ])('finds no author in %j', async (node) => {
      await expect(createAuthorLookup(options, async () => node)?.('1', alice)).resolves.toBeUndefined();
    });

    it('ignores inherited properties of objects', async () => {
      const lookUp = createAuthorLookup(options, async () => Object.create({ author: { username: 'bob' } }) as unknown);
      await expect(lookUp?.('1', alice)).resolves.toBeUndefined();
    });

    it('does not exist if none is configured', () => {
      expect(createAuthorLookup(OPTIONS, async () => ({}))).toBeUndefined();
    });
  });
});

describe('ownership between a caller and an author', () => {
  it.each([
    ['verified', 'alice', 'alice', 'own'],
    ['verified', 'alice', 'bob', 'other'],
    ['verified', 'alice', 'Alice', 'unknown'],
    ['verified', 'alice', ' ａlice', 'unknown'],
    ['verified', 'alice', undefined, 'unknown'],
    ['unverified', 'alice', 'alice', 'unknown'],
    ['unverified', undefined, undefined, 'unknown'],
    ['anonymous', undefined, 'alice', 'other'],
    ['anonymous', undefined, undefined, 'other'],
  ] as const)('of a %s %s and %s is %s', (kind, name, author, expected) => {
    expect(ownershipOf(principal(kind, name), author, 'exact')).toBe(expected);
  });

  it.each([
    ['alice', 'ALICE', 'own'],
    ['alice', ' alice', 'unknown'],
    ['alice', 'bob', 'other'],
  ])('of %s and %s under ignoreCase is %s', (name, author, expected) => {
    expect(ownershipOf(principal('verified', name), author, 'ignoreCase')).toBe(expected);
  });
});
