import type { ErrorCode } from '../../engine/errors/catalogue.ts';
import { canonicalName } from '../../engine/model/caller-name.ts';
import type { Trace } from '../../engine/model/trace.ts';
import { hasAcceptedCredential } from '../../engine/pipeline/permission-verdict.ts';
import { hashTexts } from '../../engine/sharing/hash-texts.ts';
import type { Sharing } from '../../engine/sharing/sharing.ts';
import { boundedMemo } from '../../lib/bounded-maps.ts';
import { CLAIMED } from './usage.ts';

/** Names callers by tags that only the gateways can compute, so that counts contain no personal data. */
export interface CallerTags {
  /** Returns the name under which a finished request is counted. */
  of(trace: Trace): string;
  /** Returns the tag of an account, with which operators find its rows. Undefined while the key is unknown. */
  tagOf(name: string): string | undefined;
  /** Makes the key known, if possible. */
  read(): Promise<void>;
}

/** Why authentication refuses a request without a credential. */
const NO_CREDENTIAL: ErrorCode = 'credentials_required';

const TAG_LENGTH = 16;
const MAX_REMEMBERED = 1_000;

/** Creates the tags. `ownKey` is used by a gateway alone; gateways with Redis share a key, so that they agree. */
export function createCallerTags(ownKey: Buffer, sharing: Pick<Sharing, 'keyedHash' | 'status'>): CallerTags {
  const shared = sharing.status() === undefined ? undefined : sharing.keyedHash('callers');
  const hash = (name: string) =>
    (shared === undefined ? hashTexts(ownKey, [PURPOSE, name]) : shared.hash(PURPOSE, name)).slice(0, TAG_LENGTH);
  let memo = boundedMemo(MAX_REMEMBERED, hash);
  let keyId: string | undefined;
  let reading: Promise<void> | undefined;
  const read = async () => {
    await shared?.read();
    reading = undefined;
  };
  /** `name` is in its canonical form. */
  const tagOf = (name: string): string | undefined => {
    if (shared !== undefined) {
      const id = shared.id();
      if (id === undefined) {
        reading ??= read();
        return undefined;
      }
      // Redis has lost its data, and another key was made.
      if (id !== keyId) memo = boundedMemo(MAX_REMEMBERED, hash);
      keyId = id;
    }
    return memo(name);
  };
  return {
    of(trace) {
      const { authentication, caller, upstream } = trace;
      if (authentication === undefined || authentication.principal === 'anonymous') return 'anonymous';
      if (authentication.reason === NO_CREDENTIAL) return 'anonymous';
      if (caller === undefined || authentication.principal === 'none') return 'unverified';
      if (authentication.principal === 'verified') return tagOf(caller) ?? 'unknown';
      // Credentials are forwarded without being verified, and the upstream has accepted this one.
      const isClaim = authentication.outcome !== 'reported' && upstream !== undefined && hasAcceptedCredential(trace);
      if (!isClaim) return 'unverified';
      const tag = tagOf(caller);
      return tag === undefined ? 'unknown' : `${CLAIMED}${tag}`;
    },
    tagOf: (name) => tagOf(canonicalName(name)),
    read,
  };
}

/** Keeps these tags apart from what else is hashed with the same key. */
const PURPOSE = 'deprecation';
