import { readFileSync } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import { type Document, isMap, isSeq } from 'yaml';
import { replaceFile } from '../../files/replace-file.ts';
import { type Fault, StartFault } from '../../model/fault.ts';
import type { AcceptedViolation, Baseline } from '../../model/ledger-entry.ts';
import { endOfDay, parseBaseline } from './parse-baseline.ts';

/** The baseline file of a running gateway. */
export interface BaselineFile {
  readonly file: string;
  /** True if the file did not exist at start, so nothing is accepted yet. */
  readonly missing: boolean;
  /** Returns all entries, including expired ones. */
  read(): Baseline;
  /** Returns the expired entries; `now` in epoch milliseconds. */
  expired(now: number): readonly AcceptedViolation[];
  /** Returns true if an entry that has not expired accepts this fingerprint; `now` in epoch milliseconds. */
  isAccepted(fingerprint: string, now: number): boolean;
  /** Adds an entry to the file, or updates the existing one. It applies from now on. */
  accept(accepted: AcceptedViolation): Promise<void>;
}

/** Reads a baseline file. Throws StartFault with all errors in it. A missing file counts as empty. */
export function openBaselineFile(file: string, place: Pick<Fault, 'source' | 'pointer'>): BaselineFile {
  const text = readText(file, place);
  let current = baselineOf(text ?? '', file);
  let expiries = expiriesOf(current);
  let writing: Promise<unknown> = Promise.resolve();

  const accept = async (accepted: AcceptedViolation) => {
    // Read again, to preserve what people have written since the start.
    const before = await readFile(file, 'utf8').catch((error: unknown) => {
      if (isMissing(error)) return '';
      throw error;
    });
    const parsed = parseBaseline(before, file);
    if (parsed.baseline === undefined) throw new StartFault(parsed.faults);
    const after = editBaseline(parsed.document, accepted);
    const next = baselineOf(after, file);
    await writeBaseline(file, after);
    current = next;
    expiries = expiriesOf(next);
  };
  return {
    file,
    missing: text === undefined,
    read: () => current,
    expired: (now) => current.accepted.filter(({ expires }) => expires !== undefined && endOfDay(expires) <= now),
    isAccepted: (fingerprint, now) => now < (expiries.get(fingerprint) ?? Number.NEGATIVE_INFINITY),
    accept: (accepted) => {
      // One at a time: each call reads what the previous one has written.
      const done = writing.then(() => accept(accepted));
      writing = done.catch(() => undefined);
      return done;
    },
  };
}

/** Reads a baseline file once, for a report. Throws StartFault, also if the file does not exist. */
export function readBaselineFile(file: string): Baseline {
  const place = { source: file, pointer: '' };
  const text = readText(file, place);
  if (text === undefined) throw new StartFault([{ ...place, message: 'the file does not exist' }]);
  return baselineOf(text, file);
}

function readText(file: string, place: Pick<Fault, 'source' | 'pointer'>): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
    throw new StartFault([{ ...place, message: `the baseline ${file} cannot be read (${reason})` }]);
  }
}

function baselineOf(text: string, file: string): Baseline {
  const parsed = parseBaseline(text, file);
  if (parsed.baseline === undefined) throw new StartFault(parsed.faults);
  return parsed.baseline;
}

function expiriesOf({ accepted }: Baseline): ReadonlyMap<string, number> {
  return new Map(
    accepted.map(({ fingerprint, expires }) => [fingerprint, expires === undefined ? Infinity : endOfDay(expires)]),
  );
}

/** Replaces the file, or the target of a symbolic link, and preserves its permissions. */
async function writeBaseline(file: string, text: string): Promise<void> {
  const target = await realpath(file).catch(() => file);
  const mode = await stat(target).then(
    (found) => found.mode & 0o777,
    () => 0o644,
  );
  await replaceFile(target, text, mode);
}

const isMissing = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT';

const HEADER = ` Known and accepted violations of the contract: why, by whom and until when they are accepted.
 Portico reads this file at start (contract.baseline). Reports and the console show its entries.`;

/** Adds a violation to a baseline document, or updates its existing entry. Comments stay in place. Returns the text. */
function editBaseline(document: Document, accepted: AcceptedViolation): string {
  const fields = Object.entries(accepted).filter(([, value]) => value !== undefined);
  const entry = Object.fromEntries(fields);
  if (!isMap(document.contents)) {
    const comment = document.commentBefore;
    document.contents = document.createNode({ accepted: [entry] });
    document.commentBefore = comment ?? HEADER;
    return document.toString({ lineWidth: 0 });
  }
  const list = document.get('accepted');
  if (!isSeq(list)) {
    document.set('accepted', document.createNode([entry]));
    return document.toString({ lineWidth: 0 });
  }
  const known = list.items.find((item) => isMap(item) && item.get('fingerprint') === accepted.fingerprint);
  if (!isMap(known)) list.add(document.createNode(entry));
  else {
    for (const [key, value] of fields) known.set(key, value);
    if (accepted.expires === undefined) known.delete('expires');
  }
  list.flow = false;
  return document.toString({ lineWidth: 0 });
}
