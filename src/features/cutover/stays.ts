import { hashTexts } from '../../engine/sharing/hash-texts.ts';
import type { Sharing } from '../../engine/sharing/sharing.ts';
import { boundedMemo, createLruMap } from '../../lib/bounded-maps.ts';

/** The names of the two servers. */
export type SideName = 'old' | 'new';

/** Which callers stay with a server because it has got a write of theirs. */
export interface Stays {
  /** Returns the server with which a caller stays under a decision. */
  of(key: string, step: number): SideName | undefined;
  /** Makes a caller stay. Resolves once other gateways can know it. */
  add(key: string, side: SideName, step: number): Promise<void> | undefined;
  /** What survives a restart. */
  list(): readonly StoredStay[];
  readonly size: number;
  /** Makes the key of the fleet known, if possible. */
  read(): Promise<void>;
}

/** A stay as it is stored: callers are named by keyed hashes. */
export interface StoredStay {
  readonly tag: string;
  readonly side: SideName;
  readonly step: number;
}

interface StaysParts {
  /** The key of a gateway alone. Gateways with Redis share one. */
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

/** Creates the memory. Another decision about the shares ends all stays, because each contains the decision's number. */
export function createStays({ ownKey, stored, sharing, onChange }: StaysParts): Stays {
  const shared = sharing.status() === undefined ? undefined : sharing.keyedHash('callers');
  const hash = (key: string) =>
    (shared === undefined ? hashTexts(ownKey, [PURPOSE, key]) : shared.hash(PURPOSE, key)).slice(0, TAG_LENGTH);
  let tagOf = boundedMemo(MAX_REMEMBERED, hash);
  let keyId: string | undefined;
  const knownTag = (key: string): string | undefined => {
    if (shared === undefined) return tagOf(key);
    const id = shared.id();
    if (id === undefined) return undefined;
    // Redis has lost its data, and another key was made.
    if (id !== keyId) tagOf = boundedMemo(MAX_REMEMBERED, hash);
    keyId = id;
    return tagOf(key);
  };
  const stays = createLruMap<string, StoredStay>(MAX_STAYS);
  for (const one of stored) stays.set(one.tag, one);
  const keep = (stay: StoredStay): boolean => {
    const known = stays.get(stay.tag);
    if (known !== undefined && (known.step > stay.step || (known.step === stay.step && known.side === stay.side)))
      return false;
    stays.set(stay.tag, stay);
    onChange();
    return true;
  };
  sharing.changes.listen({
    apply(change, _number, own) {
      if (change.kind !== 'side' || own) return;
      const { caller: tag, side, decision: step } = change;
      if (side === 'old' || side === 'new') keep({ tag, side, step });
    },
    // What is known stays true. What was missed is known again after the next write.
    reset: () => undefined,
  });
  return {
    of(key, step) {
      if (stays.size === 0) return undefined;
      const tag = knownTag(key);
      const found = tag === undefined ? undefined : stays.get(tag);
      return found?.step === step ? found.side : undefined;
    },
    add(key, side, step) {
      const tag = knownTag(key);
      if (tag === undefined || !keep({ tag, side, step })) return undefined;
      return sharing.changes.append({ kind: 'side', caller: tag, side, decision: step });
    },
    list: () => [...stays.values()],
    get size() {
      return stays.size;
    },
    read: async () => void (await shared?.read()),
  };
}
