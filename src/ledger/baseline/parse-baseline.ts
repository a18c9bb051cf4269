import { type Document, isMap, isPair, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { closestName } from '../../lib/closest-name.ts';
import type { Fault } from '../../model/fault.ts';
import type { AcceptedViolation, Baseline } from '../../model/ledger-entry.ts';

/** The text of a baseline file as data and as a document that keeps its comments, or everything that is wrong with it. */
export type ParsedBaseline =
  | { readonly baseline: Baseline; readonly document: Document; readonly faults: readonly [] }
  | { readonly baseline: undefined; readonly faults: readonly Fault[] };

/** What people most often get wrong: entries below `accepted: []`, and texts with a colon or a comma. */
const FORM = 'write "accepted:" alone on its line and entries below it, texts with punctuation in quotes';
const KEYS = ['fingerprint', 'reason', 'owner', 'expires', 'summary'] as const;
const FINGERPRINT = /^[\da-f]{16}$/;
const MAX_BYTES = 4 * 1024 * 1024;

/** Reads the text of a baseline file; `source` names it in faults, with the line. */
export function parseBaseline(text: string, source: string): ParsedBaseline {
  const lines = new LineCounter();
  const failed = (message: string, offset?: number, suggestion?: string): ParsedBaseline => ({
    baseline: undefined,
    faults: [
      {
        source: offset === undefined ? source : `${source}:${lines.linePos(offset).line}`,
        pointer: '',
        message,
        ...(suggestion !== undefined && { suggestion }),
      },
    ],
  });
  if (text.length > MAX_BYTES) return failed('is larger than 4 MiB');
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, prettyErrors: false });
  const [broken] = document.errors;
  if (broken !== undefined)
    return failed(`is no YAML: ${broken.code.toLowerCase().replaceAll('_', ' ')}`, broken.pos[0], FORM);
  const root = document.contents;
  // An empty file, or one of comments only, accepts nothing.
  if (root === null || (isScalar(root) && root.value === null))
    return { baseline: { accepted: [] }, document, faults: [] };
  if (!isMap(root)) return failed('must be a map with the key accepted');
  const faults: Fault[] = [];
  const tell = (node: unknown, pointer: string, message: string, suggestion?: string) => {
    const offset = (node as Node | undefined)?.range?.[0];
    const at = offset === undefined ? source : `${source}:${lines.linePos(offset).line}`;
    faults.push({ source: at, pointer, message, ...(suggestion !== undefined && { suggestion }) });
  };
  for (const pair of root.items)
    if (String(pair.key) !== 'accepted') tell(pair.key, `/${String(pair.key)}`, 'unknown key', 'accepted');
  const list = root.get('accepted', true) as unknown;
  if (list !== undefined && !isSeq(list) && !(isScalar(list) && list.value === null))
    tell(list, '/accepted', 'must be a list');
  const accepted = isSeq(list) ? list.items.map((item, index) => readAccepted(item, `/accepted/${index}`, tell)) : [];
  const known = new Map<string, number>();
  accepted.forEach((one, index) => {
    const earlier = one === undefined ? undefined : known.get(one.fingerprint);
    if (one === undefined) return;
    if (earlier === undefined) known.set(one.fingerprint, index);
    else if (isSeq(list))
      tell(list.items[index], `/accepted/${index}/fingerprint`, `is accepted already by /accepted/${earlier}`);
  });
  if (faults.length > 0) return { baseline: undefined, faults };
  return { baseline: { accepted: accepted.filter((one) => one !== undefined) }, document, faults: [] };
}

type Tell = (node: unknown, pointer: string, message: string, suggestion?: string) => void;

function readAccepted(item: unknown, pointer: string, tell: Tell): AcceptedViolation | undefined {
  if (!isMap(item)) {
    tell(item, pointer, 'must be a map with fingerprint, reason and owner');
    return undefined;
  }
  for (const pair of item.items) {
    const key = isPair(pair) ? String(pair.key) : '';
    if (!KEYS.some((known) => known === key))
      tell(pair.key, `${pointer}/${key}`, 'unknown key', closestName(key, KEYS));
  }
  const text = (key: (typeof KEYS)[number], needed: boolean): string | undefined => {
    const node = item.get(key, true) as unknown;
    const value = isScalar(node) ? node.value : node;
    if (value === undefined || value === null) {
      if (needed) tell(item, pointer, `must have ${key}`);
      return undefined;
    }
    if (typeof value === 'string' && value.trim() !== '') return value;
    tell(node, `${pointer}/${key}`, 'must be text', `put it in quotes`);
    return undefined;
  };
  const fingerprint = text('fingerprint', true);
  const [reason, owner] = [text('reason', true), text('owner', true)];
  const [expires, summary] = [text('expires', false), text('summary', false)];
  if (fingerprint !== undefined && !FINGERPRINT.test(fingerprint))
    tell(
      item.get('fingerprint', true),
      `${pointer}/fingerprint`,
      'must be 16 hexadecimal digits, as reports print them',
    );
  if (expires !== undefined && !isDay(expires))
    tell(item.get('expires', true), `${pointer}/expires`, 'must be a day as YYYY-MM-DD');
  if (fingerprint === undefined || reason === undefined || owner === undefined) return undefined;
  return { fingerprint, reason, owner, expires, summary };
}

const DAY_MS = 86_400_000;

/** True for a day of the calendar as `YYYY-MM-DD`. */
export function isDay(text: string): boolean {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

/** The first instant after a day, in epoch milliseconds; days end in UTC. */
export function endOfDay(day: string): number {
  return Date.parse(`${day}T00:00:00Z`) + DAY_MS;
}
