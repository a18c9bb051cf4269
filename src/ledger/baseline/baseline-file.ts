import { readFileSync } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import { type Document, isMap, isSeq } from 'yaml';
import { replaceFile } from '../../files/replace-file.ts';
import { type Fault, StartFault } from '../../model/fault.ts';
import type { AcceptedViolation, Baseline } from '../../model/ledger-entry.ts';
import { endOfDay, parseBaseline } from './parse-baseline.ts';

/** The file of accepted violations of a running gateway. */
export interface BaselineFile {
  readonly file: string;
  /** True where there was no file at start, so that nothing is accepted yet. */
  readonly missing: boolean;
  /** Everything that is accepted, what has expired too. */
  read(): Baseline;
  /** Entries that no longer hold. */
  expired(now: number): readonly AcceptedViolation[];
  /** True while some entry accepts this fingerprint; `now` in epoch milliseconds. */
  isAccepted(fingerprint: string, now: number): boolean;
  /** Writes an entry into the file, or changes the one it has, and lets it hold from now on. */
  accept(accepted: AcceptedViolation): Promise<void>;
}

/** Reads a baseline file; throws StartFault with everything that is wrong with it. A file that is not there is empty. */
export function openBaselineFile(file: string, place: Pick<Fault, 'source' | 'pointer'>): BaselineFile {
  const text = readText(file, place);
  let current = baselineOf(text ?? '', file);
  let ends = endsOf(current);
  let writing: Promise<unknown> = Promise.resolve();

  const accept = async (accepted: AcceptedViolation) => {
    // Read again, so that what people wrote since the start is kept.
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
    ends = endsOf(next);
  };
  return {
    file,
    missing: text === undefined,
    read: () => current,
    expired: (now) => current.accepted.filter(({ expires }) => expires !== undefined && endOfDay(expires) <= now),
    isAccepted: (fingerprint, now) => now < (ends.get(fingerprint) ?? Number.NEGATIVE_INFINITY),
    accept: (accepted) => {
      // One after the other: each one reads what the one before has written.
      const done = writing.then(() => accept(accepted));
      writing = done.catch(() => undefined);
      return done;
    },
  };
}

/** Reads a baseline file once, for a report; throws StartFault, also for one that is not there. */
export function readBaselineFile(file: string): Baseline {
  const place = { source: file, pointer: '' };
  const text = readText(file, place);
  if (text === undefined) throw new StartFault([{ ...place, message: 'there is no such file' }]);
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

function endsOf({ accepted }: Baseline): ReadonlyMap<string, number> {
  return new Map(
    accepted.map(({ fingerprint, expires }) => [fingerprint, expires === undefined ? Infinity : endOfDay(expires)]),
  );
}

/** Replaces the file that a link leads to, with the permissions that it has. */
async function writeBaseline(file: string, text: string): Promise<void> {
  const target = await realpath(file).catch(() => file);
  const mode = await stat(target).then(
    (found) => found.mode & 0o777,
    () => 0o644,
  );
  await replaceFile(target, text, mode);
}

const isMissing = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT';

const HEADER = ` Violations of the contract that are known and accepted: why, by whom, until when.
 Portico reads this file at start (contract.baseline); reports and the console show what is in it.`;

/** Adds a violation to the document of a baseline file, or changes the entry that it has; comments stay where they are. */
export function editBaseline(document: Document, accepted: AcceptedViolation): string {
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
