import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import type { Settings } from '../../engine/config/settings.ts';
import { createStateWriter } from '../../engine/config/state-writer.ts';
import { hashTexts } from '../../engine/sharing/hash-texts.ts';
import type { Sharing } from '../../engine/sharing/sharing.ts';
import type { Clock } from '../../lib/clock.ts';
import { parseState } from '../../lib/state-file.ts';
import { createMirrorCounts, type MirrorCounts } from './mirror-counts.ts';
import { POINTER, type StoredMirror, writeMirrorFile } from './mirror-file.ts';
import {
  addTotals,
  LOST_TOTALS,
  mergeTotals,
  type MirrorTotals,
  noTotals,
  totalsFrom,
  totalsJson,
} from './mirror-totals.ts';

/** The counts of a mirror. They survive reloads, and are stored and shared. */
export interface MirrorStore {
  /** Returns the counts for a second server. Those for another one are given up. */
  countsFor(subject: string): MirrorCounts;
  /** Returns what all gateways have counted. What others have counted may be missing for a minute. */
  totals(): MirrorTotals;
  /** Returns a number from 0 to 2³² - 1 that only the gateways can compute. Undefined while they do not know their key. */
  numberOf(caller: string): number | undefined;
  /** Checks that the counts can be stored, and begins to share them. Does nothing if it has been called. */
  open(): Promise<void>;
  close(): Promise<void>;
}

interface StoreParts {
  /** Identifies the second server. */
  readonly subject: string;
  readonly stored: StoredMirror;
  readonly file: string;
  readonly settings: Pick<Settings, 'originOf' | 'placeOf'>;
  readonly sharing: Pick<Sharing, 'openDocument' | 'keyedHash' | 'status'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The time between writes of the counts, in milliseconds. A crash loses what was counted since. */
const PUBLISH_MS = 30_000;

/** Keeps these numbers apart from what else is hashed with the same key. */
const PURPOSE = 'mirror';

/** Identifies a second server. With another address or label, all counts begin again. */
export const subjectOf = ({ url, label }: { readonly url: string; readonly label: string }): string =>
  hash('sha256', `${url} ${label}`, 'base64url').slice(0, 22);

/** The parts of the document that gateways share. Programs that are no gateways read it, too. */
export const MIRROR_DOCUMENT = {
  name: 'mirror',
  format: (totals: MirrorTotals): string => JSON.stringify({ version: 1, totals: totalsJson(totals) }),
  parse: (text: string): MirrorTotals => totalsFrom(parseState(text)['totals'], 'totals'),
};

/** Creates the store. Nothing is written before it is opened. */
export function createMirrorStore(parts: StoreParts): MirrorStore {
  const { stored, file, settings, sharing, clock, logger } = parts;
  // The gateways begin to merge from what is stored, so it must belong to this server.
  let totals = stored.totals.subject === parts.subject ? stored.totals : noTotals(parts.subject, clock());
  let counts = createMirrorCounts(parts.subject, clock);
  let isOpen = false;
  const shared = sharing.status() === undefined ? undefined : sharing.keyedHash('callers');
  let reading: Promise<void> | undefined;

  const publish = () => {
    const next = addTotals(totals, counts.take());
    if (next !== totals) writer.changed();
    totals = next;
  };
  const writer = createStateWriter({
    settings,
    file,
    pointer: POINTER,
    logger,
    name: 'mirror',
    what: 'the counts of the mirror',
    save: () => writeMirrorFile(file, { key: stored.key, totals }),
  });

  const document = sharing.openDocument<MirrorTotals>(MIRROR_DOCUMENT.name, {
    ...MIRROR_DOCUMENT,
    current: () => totals,
    adopt(next) {
      totals = next;
      writer.changed();
    },
    merge: mergeTotals,
    versionOf: ({ subject }) => subject,
    empty: () => LOST_TOTALS,
  });

  let timer: NodeJS.Timeout | undefined;
  const publishAll = async () => {
    publish();
    await Promise.all([writer.writeChanges(), document.sync()]);
  };
  const open = async () => {
    isOpen = true;
    await writer.check();
    await Promise.all([shared?.read(), document.start()]);
    timer = setInterval(() => void publishAll(), PUBLISH_MS).unref();
  };
  let opening: Promise<void> | undefined;
  return {
    countsFor(subject) {
      if (totals.subject === subject) return counts;
      totals = noTotals(subject, clock());
      counts = createMirrorCounts(subject, clock);
      return counts;
    },
    totals: () => addTotals(totals, counts.pending()),
    numberOf(caller) {
      if (shared !== undefined && shared.id() === undefined) {
        reading ??= Promise.resolve(shared.read()).then(() => void (reading = undefined));
        return undefined;
      }
      const digest = shared === undefined ? hashTexts(stored.key, [PURPOSE, caller]) : shared.hash(PURPOSE, caller);
      return Buffer.from(digest, 'base64url').readUInt32BE(0);
    },
    open: () => (opening ??= open()),
    async close() {
      if (!isOpen) return;
      clearInterval(timer);
      await publishAll();
    },
  };
}
