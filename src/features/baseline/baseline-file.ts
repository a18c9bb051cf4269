import { readFileSync } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import { type Document, isMap, isPair, isScalar, isSeq, type Node } from 'yaml';
import { endOfDay, isDay } from '../../lib/clock.ts';
import { fileReason } from '../../lib/file-reason.ts';
import { replaceFile } from '../../lib/replace-file.ts';
import { closestName } from '../../lib/closest-name.ts';
import { readYaml } from '../../lib/read-yaml.ts';
import type { AcceptedViolations } from '../../engine/model/acceptance.ts';
import { type Fault, StartFault, syntaxFaults } from '../../engine/model/fault.ts';
import type { AcceptedViolation, Baseline } from '../../engine/model/ledger-entry.ts';

/** The maximum number of expired entries that are reported one by one. */
const MAX_REPORTED = 20;
const NOT_FOUND = 'the baseline file does not exist: no violations are accepted until the console writes it';

/**
 * Reads a baseline file. Throws a `StartFault` that lists all errors in the file. A missing file is treated as empty.
 */
export function openBaselineFile(file: string, place: Pick<Fault, 'source' | 'pointer'>): AcceptedViolations {
  const text = readText(file, place);
  let current = baselineOf(text ?? '', file);
  let expiries = expiriesOf(current);
  let writing: Promise<unknown> = Promise.resolve();

  const listeners: (() => void)[] = [];
  const use = (next: Baseline) => {
    current = next;
    expiries = expiriesOf(next);
    for (const listener of listeners) listener();
  };

  const edit = async (change: Edit, isUsed: boolean): Promise<boolean> => {
    // The file is read again to preserve changes made to it since startup.
    const before = await readFile(file, 'utf8').catch((error: unknown) => {
      if (isMissing(error)) return '';
      throw error;
    });
    const parsed = parseBaseline(before, file);
    if (parsed.baseline === undefined) throw new StartFault(parsed.faults);
    const after = change(parsed.document, parsed.baseline);
    if (after === undefined) return false;
    const next = baselineOf(after, file);
    await writeBaseline(file, after);
    if (isUsed) use(next);
    return true;
  };
  const inTurn = (change: Edit, isUsed = true): Promise<boolean> => {
    // Changes are written one after another, because each change is based on the content written by the previous one.
    const done = writing.then(() => edit(change, isUsed));
    writing = done.catch(() => undefined);
    return done;
  };
  return {
    file,
    read: () => current,
    warnings(now) {
      const expired = current.accepted.flatMap(({ fingerprint, expires }, index) => {
        if (expires === undefined || endOfDay(expires) > now) return [];
        const message = `the violation ${fingerprint} is no longer accepted: the last day was ${expires}`;
        return [{ source: file, pointer: `/accepted/${index}`, message }];
      });
      return [
        ...(text === undefined ? [{ ...place, message: NOT_FOUND }] : []),
        ...expired.slice(0, MAX_REPORTED),
        ...(expired.length > MAX_REPORTED
          ? [{ source: file, pointer: '/accepted', message: `${expired.length} entries have expired` }]
          : []),
      ];
    },
    isAccepted: (fingerprint, now) => now < (expiries.get(fingerprint) ?? Number.NEGATIVE_INFINITY),
    accept: async (accepted) => {
      await inTurn((document) => editBaseline(document, accepted));
    },
    async adopt({ fingerprint, accepted }) {
      const others = current.accepted.filter((one) => one.fingerprint !== fingerprint);
      use({ accepted: accepted === null ? others : [...others, accepted] });
      const write: Edit = (document, stored) => {
        if (accepted === null) return withoutEntry(document, fingerprint);
        // Several gateways can share a file, so another gateway may already have written the entry.
        const known = stored.accepted.find((one) => one.fingerprint === fingerprint);
        return KEYS.every((key) => known?.[key] === accepted[key]) ? undefined : editBaseline(document, accepted);
      };
      // Memory may already contain later changes that are not yet in the file.
      await inTurn(write, false);
    },
    onChange: (listener) => void listeners.push(listener),
    withdraw: (fingerprint) => inTurn((document) => withoutEntry(document, fingerprint)),
  };
}

/** Reads a baseline file once for a report. Throws `StartFault` if the file is invalid or does not exist. */
export function readBaselineFile(file: string): Baseline {
  const place = { source: file, pointer: '' };
  const text = readText(file, place);
  if (text === undefined)
    throw new StartFault([
      { ...place, message: 'there is no such file', suggestion: 'check the path of the baseline' },
    ]);
  return baselineOf(text, file);
}

/** Returns the new text of the file, or undefined if no change is needed. */
type Edit = (document: Document, stored: Baseline) => string | undefined;

function readText(file: string, place: Pick<Fault, 'source' | 'pointer'>): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    const message = `the baseline ${file} cannot be read: ${fileReason(error)}`;
    throw new StartFault([{ ...place, message, suggestion: 'name a file that you may read' }]);
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

/** Replaces the file, or the target of a symbolic link, and preserves the permissions. */
async function writeBaseline(file: string, text: string): Promise<void> {
  const target = await realpath(file).catch(() => file);
  const mode = await stat(target).then(
    (found) => found.mode & 0o777,
    () => 0o644,
  );
  await replaceFile(target, text, mode);
}

const isMissing = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT';

const HEADER = ` Accepted violations of the contract, each with its reason, its owner and an optional expiry date.
 Portico reads this file at startup (contract.baseline). Reports and the console show its entries.`;

/** Adds a violation to a baseline document, or updates its entry. Returns the new text, with comments preserved. */
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

/**
 * Removes a violation from a baseline document and returns the new text. Returns undefined if the violation is not
 * accepted.
 */
function withoutEntry(document: Document, fingerprint: string): string | undefined {
  const list = document.get('accepted');
  if (!isSeq(list)) return undefined;
  const index = list.items.findIndex((item) => isMap(item) && item.get('fingerprint') === fingerprint);
  if (index < 0) return undefined;
  list.delete(index);
  return document.toString({ lineWidth: 0 });
}

/**
 * The result of parsing a baseline file: either its data and a document that preserves its comments, or all errors in
 * the file.
 */
type ParsedBaseline =
  | { readonly baseline: Baseline; readonly document: Document; readonly faults: readonly [] }
  | { readonly baseline: undefined; readonly faults: readonly Fault[] };

/**
 * A hint about the most common mistakes, which are entries under `accepted: []` and unquoted text that contains a colon
 * or a comma.
 */
const FORMAT_HINT = 'write "accepted:" on its own line, the entries below it, and text with punctuation in quotes';
const KEYS = ['fingerprint', 'reason', 'owner', 'expires', 'summary'] as const;
const FINGERPRINT = /^[\da-f]{16}$/;
const MAX_BYTES = 4 * 1024 * 1024;

/** Parses the text of a baseline file. Errors contain `source` and the line number. */
export function parseBaseline(text: string, source: string): ParsedBaseline {
  const failed = (message: string, suggestion: string): ParsedBaseline => ({
    baseline: undefined,
    faults: [{ source, pointer: '', message, suggestion }],
  });
  if (text.length > MAX_BYTES) return failed('is larger than 4 MiB', 'remove entries that are no longer seen');
  const reading = readYaml(text);
  if (reading.errors !== undefined)
    return { baseline: undefined, faults: syntaxFaults(source, reading.errors, FORMAT_HINT) };
  const { document, lineAt } = reading;
  const root = document.contents;
  // A file that is empty or contains only comments accepts no violations.
  if (root === null || (isScalar(root) && root.value === null))
    return { baseline: { accepted: [] }, document, faults: [] };
  if (!isMap(root)) return failed('must be a mapping with the key accepted', FORMAT_HINT);
  const faults: Fault[] = [];
  const report = (node: unknown, pointer: string, message: string, suggestion?: string) => {
    const offset = (node as Node | undefined)?.range?.[0];
    const at = offset === undefined ? source : `${source}:${lineAt(offset)}`;
    faults.push({ source: at, pointer, message, ...(suggestion !== undefined && { suggestion }) });
  };
  for (const pair of root.items)
    if (String(pair.key) !== 'accepted') report(pair.key, `/${String(pair.key)}`, 'unknown key', 'accepted');
  const list = root.get('accepted', true) as unknown;
  if (list !== undefined && !isSeq(list) && !(isScalar(list) && list.value === null))
    report(list, '/accepted', 'must be a list');
  const accepted = isSeq(list) ? list.items.map((item, index) => readAccepted(item, `/accepted/${index}`, report)) : [];
  const known = new Map<string, number>();
  accepted.forEach((one, index) => {
    const earlier = one === undefined ? undefined : known.get(one.fingerprint);
    if (one === undefined) return;
    if (earlier === undefined) known.set(one.fingerprint, index);
    else if (isSeq(list))
      report(list.items[index], `/accepted/${index}/fingerprint`, `is already accepted by /accepted/${earlier}`);
  });
  if (faults.length > 0) return { baseline: undefined, faults };
  return { baseline: { accepted: accepted.filter((one) => one !== undefined) }, document, faults: [] };
}

type ReportFault = (node: unknown, pointer: string, message: string, suggestion?: string) => void;

function readAccepted(item: unknown, pointer: string, report: ReportFault): AcceptedViolation | undefined {
  if (!isMap(item)) {
    report(item, pointer, 'must be a mapping with fingerprint, reason and owner');
    return undefined;
  }
  // If these keys are missing, the reason is that they are misspelled.
  const misspelled = new Set<string>();
  for (const pair of item.items) {
    const key = isPair(pair) ? String(pair.key) : '';
    if (KEYS.some((known) => known === key)) continue;
    const meant = closestName(key, KEYS);
    if (meant !== undefined) misspelled.add(meant);
    report(pair.key, `${pointer}/${key}`, 'unknown key', meant ?? `one of ${KEYS.join(', ')}`);
  }
  const text = (key: (typeof KEYS)[number], needed: boolean): string | undefined => {
    const node = item.get(key, true) as unknown;
    const value = isScalar(node) ? node.value : node;
    if (value === undefined || value === null) {
      if (needed && !misspelled.has(key)) report(item, pointer, `must have ${key}`);
      return undefined;
    }
    if (typeof value === 'string' && value.trim() !== '') return value;
    report(node, `${pointer}/${key}`, 'must be text', 'put it in quotes');
    return undefined;
  };
  const fingerprint = text('fingerprint', true);
  const [reason, owner] = [text('reason', true), text('owner', true)];
  const [expires, summary] = [text('expires', false), text('summary', false)];
  if (fingerprint !== undefined && !FINGERPRINT.test(fingerprint))
    report(
      item.get('fingerprint', true),
      `${pointer}/fingerprint`,
      'must be 16 hexadecimal digits, as shown in reports',
    );
  if (expires !== undefined && !isDay(expires))
    report(item.get('expires', true), `${pointer}/expires`, 'must be a date in the format YYYY-MM-DD');
  if (fingerprint === undefined || reason === undefined || owner === undefined) return undefined;
  return { fingerprint, reason, owner, expires, summary };
}
