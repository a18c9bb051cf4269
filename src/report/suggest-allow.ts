import type { LedgerEntry } from '../model/ledger-entry.ts';
import { countWords } from './report-words.ts';
import { findingsOf, type Report } from './report.ts';

/** An entry that `undocumented.allow` could have. */
interface SuggestedEntry {
  readonly method: string;
  readonly path: string;
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const BELOW_BASE = /^\/services\/v2\/[^?#\s]+$/;
const SAFE: ReadonlySet<string> = new Set(['GET', 'OPTIONS']);

/**
 * Returns the `undocumented.allow` entry that would allow a ledger entry's requests. Returns undefined for other
 * violations, and for requests that no entry can allow.
 */
export function allowEntryOf({ check, direction, at }: LedgerEntry): SuggestedEntry | undefined {
  const [, method = '', place = ''] = /^([A-Z-]+) (\/.*)$/.exec(at) ?? [];
  if (check !== 'undocumented' || direction !== 'request') return undefined;
  // The ledger shortens long places and masks text that is not a plain name.
  const path = place.replace(/\/[^/]*…$/, '/**').replaceAll('?', '{name}');
  // An entry for GET also allows HEAD.
  const allowed = method === 'HEAD' ? 'GET' : method;
  return METHODS.has(allowed) && BELOW_BASE.test(path) ? { method: allowed, path } : undefined;
}

/** Formats an `undocumented.allow` entry as one line of YAML. */
export const allowEntryLine = ({ method, path }: SuggestedEntry): string => `- { method: ${method}, path: '${path}' }`;

/**
 * Returns a YAML block for the configuration that allows all undocumented requests in a report, except those for
 * which `isAllowed` returns true. Accepted violations are included, because an acceptance does not allow any requests.
 */
export function suggestAllowLines(
  report: Pick<Report, 'groups' | 'dropped'>,
  isAllowed: (method: string, path: string) => boolean,
): readonly string[] {
  const undocumented = findingsOf(report).filter(({ entry }) => entry.check === 'undocumented');
  const counts = new Map<string, SuggestedEntry & { count: number }>();
  for (const { entry } of undocumented) {
    const allow = allowEntryOf(entry);
    if (allow === undefined || isAllowed(allow.method, allow.path)) continue;
    const key = `${allow.path} ${allow.method}`;
    counts.set(key, { ...allow, count: (counts.get(key)?.count ?? 0) + entry.count });
  }
  const entries = [...counts.keys()].toSorted().flatMap((key) => counts.get(key) ?? []);
  const linesOf = (title: string, isSafe: boolean) => {
    const group = entries.filter(({ method }) => SAFE.has(method) === isSafe);
    const lines = group.map((one) => `    ${allowEntryLine(one)} # ${noteOf(one)}`);
    return lines.length === 0 ? [] : [`    # ${title}`, ...lines];
  };
  const never = undocumented.filter(({ entry }) => allowEntryOf(entry) === undefined);
  return [
    '# Entries for undocumented requests. Delete the entries that your clients do not need.',
    '# {id} and {name} match any one segment, and /** matches everything below.',
    ...(report.dropped === 0 ? [] : ['# The ledger dropped records, so entries can be missing.']),
    'undocumented:',
    entries.length === 0 ? '  allow: []' : '  allow:',
    ...linesOf('The modes staging and strict refuse these requests without an entry.', false),
    ...linesOf('Only the mode strict refuses these requests without an entry.', true),
    ...(never.length === 0 ? [] : ['# No entry can allow these requests, because of their method or their path:']),
    ...never.map(({ entry }) => `#   ${entry.at.replaceAll(/[^!-~ …]/g, '?')}`),
  ];
}

function noteOf({ path, count }: SuggestedEntry & { readonly count: number }): string {
  return `${countWords(count, 'request')}${/\{name\}|\*/.test(path) ? '; matches any text in this place' : ''}`;
}
