/* oxlint-disable typescript/no-explicit-any, typescript/no-unsafe-member-access, typescript/no-unsafe-call, typescript/no-unsafe-assignment, typescript/no-unsafe-return -- faults of any type are planted in bodies of any form */
import { beforeAll, expect } from 'vitest';
import type { NoiseRule } from '../../src/comparison/noise.ts';
import { createIdentities, type Identities } from '../../src/comparison/identities.ts';
import { createWalkSource } from '../../src/workbench/compare/sources/walk-source.ts';
import type { ExchangePair, PairResult, ServerResponse } from '../../src/comparison/comparator.ts';
import { contract } from '../builders/compiled-contract.ts';
import {
  callerOf,
  compareAt,
  comparatorFor,
  readTarget,
  SETTINGS,
  withTwoServers,
  wordsOf,
} from '../workbench/compare/two-servers.ts';

type Json = any;

interface Planted {
  readonly noise?: readonly NoiseRule[];
  readonly role?: string;
  readonly others?: ExchangePair['others'];
}

/** Starts two servers with the same data, and learns which of their ids belong together. */
export function withPlanting() {
  const servers = withTwoServers();
  const urls = () => ({ old: servers().old.url, new: servers().new.url });

  /** The ids of both servers, as a walk over both has learned them. */
  const ids: Identities = createIdentities('learned');

  beforeAll(async () => {
    const source = createWalkSource({
      operations: contract.operations,
      exploration: SETTINGS.profile.exploration,
      ids: new Map([['groupId', ['1', '2']]]),
      maxRequests: 250,
      allPages: false,
    });
    const { found, counts } = await compareAt(urls(), source, { ids });
    expect(wordsOf(found)).toEqual([]);
    expect(counts.different).toBe(0);
    expect(counts.equal + counts.muted).toBeGreaterThan(200);
  }, 60_000);

  async function pairOf(target: string, role = 'admin'): Promise<ExchangePair> {
    const { operation, parameters, toNew } = readTarget(target);
    const { old: authorization } = callerOf(role);
    const headers = authorization === undefined ? {} : { authorization };
    const response = await fetch(servers().old.url + target, { headers });
    const second = servers().new.respond(toNew(ids) ?? target, authorization);
    return {
      operation,
      parameters,
      target,
      role,
      old: {
        status: response.status,
        mediaType: response.headers.get('content-type') ?? undefined,
        body: Buffer.from(await response.arrayBuffer()),
      },
      new: { status: second.status, mediaType: second.type, body: Buffer.from(second.text) },
    };
  }

  /** Step by step, a comparison finds the same. */
  async function expectSameInTurns(pair: ExchangePair, noise: NonNullable<Planted['noise']>): Promise<void> {
    const { comparator } = comparatorFor(urls(), { ids: createIdentities('given', [...ids.pairs()]), noise });
    const words = ({ outcome, differences }: PairResult) => [
      outcome,
      ...differences.map(({ kind, place }) => `${kind} ${place.at}`).toSorted(),
    ];
    const whole = words(comparator.compare(pair));
    expect(words(await comparator.compareInTurns(pair, () => Promise.resolve()))).toEqual(whole);
  }

  /** Returns the differences that a change of the new server's response causes, also those that only show at the end. */
  async function differencesOf(
    target: string,
    change: (json: Json, sent: { -readonly [Key in keyof ServerResponse]: ServerResponse[Key] }) => unknown,
    { noise = [], role = 'admin', others }: Planted = {},
  ): Promise<{ readonly counted: readonly string[]; readonly muted: readonly string[] }> {
    const pair = await pairOf(target, role);
    const changed = { ...pair.new };
    const json: Json = changed.body.length === 0 ? undefined : JSON.parse(changed.body.toString());
    const result = change(json, changed);
    if (changed.body === pair.new.body && json !== undefined)
      changed.body = Buffer.from(JSON.stringify(typeof result === 'object' && result !== null ? result : json));
    const { comparator } = comparatorFor(urls(), { ids, noise });
    const planted = { ...pair, new: changed, ...(others !== undefined && { others }) };
    await expectSameInTurns(planted, noise);
    const compared = comparator.compare(planted);
    compared.accept();
    const all = [...compared.differences, ...comparator.settle().map(({ difference }) => difference)];
    const words = (isMuted: boolean) =>
      all
        .filter(({ mutedBy }) => (mutedBy !== undefined) === isMuted)
        .map(({ kind, place }) => `${kind} ${place.location === 'body' ? place.at : place.location}`);
    return { counted: words(false), muted: words(true) };
  }
  return { servers, ids, pairOf, differencesOf };
}
