import { setTimeout as pause } from 'node:timers/promises';
import { hashTexts } from '../../engine/sharing/hash-texts.ts';
import type { SharedHash, Sharing } from '../../engine/sharing/sharing.ts';
import { boundedMemo, createLruMap } from '../../lib/bounded-maps.ts';
import type { Decision } from './cutover-state.ts';

/** The names of the two servers. */
export type SideName = 'old' | 'new';

/** A decision, as far as it ends stays. */
export type Ending = Pick<Decision, 'number' | 'raised' | 'lowered'>;

/** Which callers stay with a server because it has got a write of theirs. */
export interface Stays {
  /** Returns the server with which a caller stays under a decision. */
  of(key: string, decision: Ending): SideName | undefined;
  /** Makes a caller stay. Resolves once other gateways know it. Returns undefined if there is nothing to wait for. */
  add(key: string, side: SideName, decision: Ending): Promise<void> | undefined;
  /** What survives a restart. */
  list(): StoredStays;
  /** Returns the number of callers who stay under a decision. Those who have written at several gateways may count twice. */
  count(decision: Ending): number;
  /** Waits a moment for what other gateways have seen, and for the key with which they name callers. */
  read(): Promise<void>;
}

/** A stay as it is stored: callers are named by keyed hashes. */
export interface StoredStay {
  readonly tag: string;
  readonly side: SideName;
  /** The number of the decision that applied. */
  readonly decision: number;
}

/** What this gateway has seen itself, and what others have told it. */
export interface StoredStays {
  readonly stays: readonly StoredStay[];
  readonly told: readonly StoredStay[];
}

interface StaysParts {
  /** The key for what this gateway stores. */
  readonly ownKey: Buffer;
  readonly stored: StoredStays;
  readonly sharing: Pick<Sharing, 'changes' | 'keyedHash' | 'status'>;
  /** Called when there is another stay to store. */
  readonly onChange: () => void;
}

/** The maximum number of callers that stay, of each kind. Beyond it, those who have not been seen for the longest time are forgotten. */
export const MAX_STAYS = 50_000;
const MAX_REMEMBERED = 4_096;
const TAG_LENGTH = 22;
const PURPOSE = 'cutover';

/** How long the first write of a caller waits until other gateways have read where the caller stays, in milliseconds. */
const SETTLE_MS = 100;

/** How long a start waits for what other gateways have seen, and how often it looks, in milliseconds. */
const START_MS = 1_000;
const RETRY_MS = 20;

/**
 * Creates the memory. A decision that moves callers to a server ends the stays with the other one, because each stay
 * contains the number of the decision that applied. What this gateway has seen itself is stored under tags of its own, so
 * it does not depend on Redis; what other gateways have seen comes with tags of the fleet.
 */
export function createStays({ ownKey, stored, sharing, onChange }: StaysParts): Stays {
  const own = createLruMap<string, Numbered>(MAX_STAYS);
  const others = createLruMap<string, Numbered>(MAX_STAYS);
  const ownTag = boundedMemo(MAX_REMEMBERED, (key: string) => cut(hashTexts(ownKey, [PURPOSE, key])));
  const fleet = sharing.status() === undefined ? undefined : createFleetTags(sharing.keyedHash('callers'));
  let numbered = 0;
  const keep = (map: typeof own, { tag, side, decision }: StoredStay) => {
    numbered += 1;
    map.set(tag, { tag, side, decision, order: numbered });
  };
  for (const one of stored.told) keep(others, one);
  for (const one of stored.stays) keep(own, one);

  sharing.changes.listen({
    apply(change, _number, isOwn) {
      if (change.kind !== 'side') return;
      const { caller: tag, side, decision } = change;
      if (side !== 'old' && side !== 'new') return;
      // What this gateway has seen itself counts already, unless others have told it something else in between.
      if (isOwn && !others.has(tag)) return;
      keep(others, { tag, side, decision });
      onChange();
    },
    // What is known stays true. What was missed is known again after the next write.
    reset: () => undefined,
  });
  const latestOf = (key: string, decision: Ending): Numbered | undefined => {
    const seen = own.get(ownTag(key));
    const tag = others.size === 0 ? undefined : fleet?.of(key);
    // Redis was not there when the gateway started.
    if (tag === undefined && others.size > 0) void fleet?.read();
    const told = tag === undefined ? undefined : others.get(tag);
    return [seen, told]
      .filter((one) => one !== undefined && lasts(one, decision))
      .reduce((latest, one) => ((one?.order ?? 0) > (latest?.order ?? 0) ? one : latest), undefined);
  };
  const announce = async (tags: FleetTags, key: string, side: SideName, decision: number) => {
    if (tags.of(key) === undefined) await tags.read();
    const caller = tags.of(key);
    if (caller === undefined) return;
    await sharing.changes.append({ kind: 'side', caller, side, decision });
    // Others can read it now. The caller's next request may reach one of them as soon as this one has its response.
    await pause(SETTLE_MS);
  };
  return {
    of: (key, decision) => (own.size + others.size === 0 ? undefined : latestOf(key, decision)?.side),
    add(key, side, decision) {
      const { number } = decision;
      if (latestOf(key, decision)?.side === side) return undefined;
      keep(own, { tag: ownTag(key), side, decision: number });
      onChange();
      return fleet && announce(fleet, key, side, number);
    },
    list: () => ({ stays: [...own.values()], told: [...others.values()] }),
    count: (decision) =>
      [...own.values(), ...others.values()].reduce((sum, one) => sum + Number(lasts(one, decision)), 0),
    async read() {
      if (fleet === undefined) return;
      const givesUpAt = performance.now() + START_MS;
      const isReady = () => fleet.of('') !== undefined && sharing.changes.position() !== undefined;
      while (!isReady() && performance.now() < givesUpAt) {
        await fleet.read();
        if (!isReady()) await pause(RETRY_MS);
      }
    },
  };
}

/** Returns whether no decision since has moved callers to the other server. */
const lasts = (stay: StoredStay, { raised, lowered }: Ending) =>
  stay.decision >= (stay.side === 'old' ? raised : lowered);

/** A stay, with its place in the order in which stays became known. */
interface Numbered extends StoredStay {
  readonly order: number;
}

/** Names callers by hashes that only the gateways of a fleet can compute. */
interface FleetTags {
  /** Undefined while the key of the fleet is unknown. */
  of(key: string): string | undefined;
  read(): Promise<void>;
}

function createFleetTags(shared: SharedHash): FleetTags {
  const hash = (key: string) => cut(shared.hash(PURPOSE, key));
  let tagOf = boundedMemo(MAX_REMEMBERED, hash);
  let keyId: string | undefined;
  return {
    of(key) {
      const id = shared.id();
      if (id === undefined) return undefined;
      // Redis has lost its data, and another key was made.
      if (id !== keyId) tagOf = boundedMemo(MAX_REMEMBERED, hash);
      keyId = id;
      return tagOf(key);
    },
    async read() {
      await shared.read();
    },
  };
}

const cut = (hash: string) => hash.slice(0, TAG_LENGTH);
