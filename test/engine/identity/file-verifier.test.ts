import { createHook } from 'node:async_hooks';
import { beforeAll, describe, expect, it } from 'vitest';
import { readBasicCredential, toAuthorization } from '../../../src/lib/basic-credentials.ts';
import { createDecoy, createFileVerifier } from '../../../src/engine/identity/file-verifier.ts';
import {
  hashPassword,
  parsePhcHash,
  type PhcHash,
  STANDARD_COSTS,
  verifyPasswordSync,
} from '../../../src/engine/identity/password-hash.ts';
import { StartFault } from '../../../src/engine/model/fault.ts';
import type { NameRule } from '../../../src/engine/model/caller-name.ts';

const HOME = '192.0.2.1';

const CHEAP = { memory: 64, passes: 1, parallelism: 1 };
const BOUNDS = { concurrency: 1, queue: 1 };
const credential = (name: string, password: string) => ({
  name,
  password,
  authorization: toAuthorization(name, password),
});

function faultsOf(start: () => unknown): unknown {
  try {
    return start();
  } catch (error) {
    return error instanceof StartFault ? error.faults : error;
  }
}

describe('the file verifier (docs/rules.md §2)', () => {
  let passwordHash: string;
  beforeAll(async () => {
    passwordHash = await hashPassword('pässword', CHEAP);
  });
  const create = (bounds = BOUNDS, names: NameRule = 'exact') =>
    createFileVerifier([{ name: 'alice', passwordHash }, { name: 'mapped only' }], bounds, 'roles.yaml', names);

  it('verifies a password with its argon2id hash', async () => {
    await expect(create().verify(credential('alice', 'pässword'), false, HOME)).resolves.toEqual({ kind: 'valid' });
  });

  it.each([
    ['a wrong password', 'alice', 'password'],
    ['an unknown name', 'mallory', 'pässword'],
    ['a name without a hash', 'mapped only', ''],
    ['a name in another case', 'Alice', 'pässword'],
    ['a name that every object inherits', '__proto__', 'pässword'],
  ])('refuses %s', async (_, name, password) => {
    await expect(create().verify(credential(name, password), false, HOME)).resolves.toEqual({ kind: 'invalid' });
  });

  it.each(['utf8', 'latin1'] as const)('verifies a password sent in %s', async (encoding) => {
    const header = `Basic ${Buffer.from('alice:pässword', encoding).toString('base64')}`;
    const sent = readBasicCredential(header);
    await expect(sent && create().verify(sent, false, HOME)).resolves.toEqual({ kind: 'valid' });
  });

  // These bytes are valid UTF-8, but the client meant Latin-1.
  it('tries the Latin-1 reading after the UTF-8 reading', async () => {
    const hash = await hashPassword('Ã¤', CHEAP);
    const verifier = createFileVerifier([{ name: 'bob', passwordHash: hash }], BOUNDS, 'roles.yaml', 'exact');
    const sent = readBasicCredential(`Basic ${Buffer.from('bob:Ã¤', 'latin1').toString('base64')}`);
    await expect(sent && verifier.verify(sent, false, HOME)).resolves.toEqual({ kind: 'valid' });
  });

  it('ignores case, but no other difference, under ignoreCase', async () => {
    const verifier = create(BOUNDS, 'ignoreCase');
    const verify = (name: string) => verifier.verify(credential(name, 'pässword'), false, HOME);
    await expect(verify('ALICE')).resolves.toEqual({ kind: 'valid' });
    await expect(verify(' alice')).resolves.toEqual({ kind: 'invalid' });
  });

  // If a name has no hash, the password is compared with a decoy hash. No password may match the decoy, least of all an
  // account's password.
  it.each(['mallory', 'mapped only'])("rejects every account's password for %s", async (name) => {
    const accounts = await Promise.all(
      [CHEAP, { ...CHEAP, memory: 128 }].map(async (costs, index) => ({
        name: `account ${index}`,
        passwordHash: await hashPassword(`password ${index}`, costs),
      })),
    );
    const verifier = createFileVerifier([...accounts, { name: 'mapped only' }], BOUNDS, 'roles.yaml', 'exact');
    for (const index of [0, 1])
      expect(await verifier.verify(credential(name, `password ${index}`), false, HOME)).toEqual({ kind: 'invalid' });
  });

  it('computes a hash for unknown names too, so that they wait in the same queue', async () => {
    const verifier = create({ concurrency: 1, queue: 0 });
    const first = verifier.verify(credential('mallory', 'x'), false, HOME);
    await expect(verifier.verify(credential('mallory', 'y'), false, HOME)).resolves.toMatchObject({ kind: 'busy' });
    await expect(first).resolves.toEqual({ kind: 'invalid' });
  });

  // The attack: if Portico did less work for a name that does not exist, the response time would reveal which names
  // exist.
  it.each([
    ['an account with a wrong password', 'alice'],
    ['an account without a hash', 'mapped only'],
    ['a name that does not exist', 'mallory'],
    ['an empty name', ''],
  ])('computes exactly one hash for %s', async (_, name) => {
    const verifier = create();
    let hashes = 0;
    const hook = createHook({ init: (_id, type) => void (hashes += /argon2/i.test(type) ? 1 : 0) }).enable();
    await verifier.verify(credential(name, 'x'), false, HOME);
    hook.disable();
    expect(hashes).toBe(1);
  });

  it('returns busy beyond its queue, except for a credential that was valid before', async () => {
    const verifier = create();
    const work = ['a', 'b', 'c'].map((password) => verifier.verify(credential('alice', password), false, HOME));
    const known = verifier.verify(credential('alice', 'pässword'), true, HOME);
    await expect(Promise.all(work)).resolves.toMatchObject([
      { kind: 'invalid' },
      { kind: 'invalid' },
      { kind: 'busy' },
    ]);
    await expect(known).resolves.toEqual({ kind: 'valid' });
  });

  it('reports every unreadable hash at startup without showing it', () => {
    const accounts = [
      { name: 'a', passwordHash: 'clear-text' },
      { name: 'b' },
      { name: 'c', passwordHash: '$argon2i$' },
    ];
    const start = () => createFileVerifier(accounts, BOUNDS, 'roles.yaml', 'exact');
    expect(start).toThrow(StartFault);
    expect(start).not.toThrow(/clear-text/);
    const unreadable = (name: string) => `the password hash of ${name} is not an argon2id hash within bounds`;
    expect(faultsOf(start)).toMatchObject([
      { source: 'roles.yaml', pointer: '/accounts/0/passwordHash', message: unreadable('a') },
      { source: 'roles.yaml', pointer: '/accounts/2/passwordHash', message: unreadable('c') },
    ]);
  });

  it('does not start if no account could log in', () => {
    const start = () => createFileVerifier([{ name: 'a' }], BOUNDS, 'roles.yaml', 'exact');
    expect(faultsOf(start)).toEqual([
      { source: 'roles.yaml', pointer: '/accounts', message: 'no account has a password hash, so no user can log in' },
    ]);
  });

  it('needs no calibration, because it asks no other server', async () => {
    const verifier = create();
    expect([verifier.asksUpstream, await verifier.calibrate()]).toEqual([false, { kind: 'calibrated' }]);
  });
});

// The attack: if the decoy were cheaper than an account's hash, the response time would reveal which names exist.
describe('the decoy for unknown names', () => {
  const hash = (memory: number, passes: number): PhcHash => ({
    memory,
    passes,
    parallelism: 1,
    salt: Buffer.alloc(16, 1),
    tag: Buffer.alloc(32, 1),
  });
  const decoyOf = (...hashes: PhcHash[]) => createDecoy(new Map(hashes.map((one, index) => [`account ${index}`, one])));

  it('costs as much as the hash that takes the longest', () => {
    const costs = { memory: 1024, passes: 3, parallelism: 1 };
    expect(decoyOf(hash(2048, 1), hash(1024, 3), hash(512, 2))).toMatchObject(costs);
    expect(decoyOf(hash(1024, 3), hash(2048, 1))).toMatchObject(costs);
    expect(decoyOf()).toMatchObject(STANDARD_COSTS);
  });

  it('has the salt and the tag of no account', () => {
    const decoy = decoyOf(hash(1024, 3));
    expect(decoy.salt).not.toEqual(Buffer.alloc(16, 1));
    expect(decoy.tag).not.toEqual(Buffer.alloc(32, 1));
    expect([decoy.salt.length, decoy.tag.length]).toEqual([16, 32]);
  });
});

describe('password hashes', () => {
  it('are salted, so that the same password never produces the same text', async () => {
    expect(await hashPassword('x', CHEAP)).not.toBe(await hashPassword('x', CHEAP));
  });

  it('have the costs that OWASP recommends', async () => {
    expect(await hashPassword('x')).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  });

  it('can be compared with a password at once, at startup', async () => {
    const hash = parsePhcHash(await hashPassword('pässword', CHEAP));
    expect(['pässword', 'password', ''].map((one) => hash && verifyPasswordSync(one, hash))).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('are not created for an empty password', async () => {
    await expect(hashPassword('', CHEAP)).rejects.toThrow(RangeError);
  });
});
