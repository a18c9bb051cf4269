import { setTimeout as pause } from 'node:timers/promises';
import { hashTexts } from '../../engine/sharing/hash-texts.ts';
import type { SharedHash, Sharing } from '../../engine/sharing/sharing.ts';

import { boundedMemo, createLruMap } from '../../lib/bounded-maps.ts';

/** The names of the two servers. */
export type SideName = 'old' | 'new';

/** Which callers stay with a server because it has got a write of theirs. */
export interface Stays {
  /** Returns the server with which a caller stays under a decision. */
  of(key: string, step: number): SideName | undefined;
  /** Makes a caller stay. Resolves once other gateways know it. */
  add(key: string, side: SideName, step: number): Promise<void> | undefined;
  /** What survives a restart. */
  list(): readonly StoredStay[];
  readonly size: number;
  /** Waits a moment for what other gateways have seen, and for the key with which they name callers. */
  read(): Promise<void>;
}

/** A stay as it is stored: callers are named by keyed hashes. */
export interface StoredStay {
  readonly tag: string;
  readonly side: SideName;
  readonly step: number;
}

interface StaysParts {
  /** The key for what this gateway stores. */
  readonly ownKey: Buffer;
  readonly stored: readonly StoredStay[];
  readonly sharing: Pick<Sharing, 'changes' | 'keyedHash' | 'status'>;
  /** Called when there is another stay to store. */
  readonly onChange: () => void;
}

/** The maximum number of callers that stay. Beyond it, those who have not been seen for the longest time are forgotten. */
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
 * Creates the memory. Another decision about the shares ends all stays, because each contains the decision's number. What
 * this gateway has seen itself is stored under tags of its own, so it does not depend on Redis; what other gateways have
 * seen comes with tags of the fleet.
 */
export function createStays({ ownKey, stored, sharing, onChange }: StaysParts): Stays {
  const own = createLruMap<string, Numbered>(MAX_STAYS);
  const others = createLruMap<string, Numbered>(MAX_STAYS);
  const ownTag = boundedMemo(MAX_REMEMBERED, (key: string) => cut(hashTexts(ownKey, [PURPOSE, key])));
  const fleet = sharing.status() === undefined ? undefined : createFleetTags(sharing.keyedHash('callers'));
  let numbered = 0;
  const keep = (map: typeof own, { tag, side, step }: StoredStay) => {
    numbered += 1;
    map.set(tag, { tag, side, step, order: numbered });
  };
  for (const one of stored) keep(own, one);

  sharing.changes.listen({
    apply(change, _number, isOwn) {
      if (change.kind !== 'side' || isOwn) return;
      const { caller: tag, side, decision: step } = change;
      if ((side === 'old' || side === 'new') && !isKnown(others.get(tag), side, step))
        keep(others, { tag, side, step });
    },
    // What is known stays true. What was missed is known again after the next write.
    reset: () => undefined,
  });
  const latestOf = (key: string, step: number): Numbered | undefined => {
    const seen = own.get(ownTag(key));
    const tag = others.size === 0 ? undefined : fleet?.of(key);
    // Redis was not there when the gateway started.
    if (tag === undefined && others.size > 0) void fleet?.read();
    const told = tag === undefined ? undefined : others.get(tag);
    return [seen, told]
      .filter((one) => one?.step === step)
      .reduce((latest, one) => ((one?.order ?? 0) > (latest?.order ?? 0) ? one : latest), undefined);
  };
  const announce = async (tags: FleetTags, key: string, side: SideName, step: number) => {
    if (tags.of(key) === undefined) await tags.read();
    const caller = tags.of(key);
    if (caller === undefined) return;
    await sharing.changes.append({ kind: 'side', caller, side, decision: step });
    // Others can read it now. The caller's next request may reach one of them as soon as this one has its response.
    await pause(SETTLE_MS);
  };
  return {
    of: (key, step) => (own.size + others.size === 0 ? undefined : latestOf(key, step)?.side),
    add(key, side, step) {
      if (latestOf(key, step)?.side === side) return undefined;
      keep(own, { tag: ownTag(key), side, step });
      onChange();
      return fleet && announce(fleet, key, side, step);
    },
    list: () => [...own.values()],
    get size() {
      return own.size + others.size;
    },
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

/** Returns whether a stay, or a later one, is known. */
const isKnown = (found: StoredStay | undefined, side: SideName, step: number) =>
  found !== undefined && (found.step > step || (found.step === step && found.side === side));

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
