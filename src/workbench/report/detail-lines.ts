import { isOutage, type LedgerEntry } from '../../engine/model/ledger-entry.ts';
import {
  allowEntryLine,
  allowEntryOf,
  isAllowedMethod,
  type SuggestedEntry,
  suggestFix,
} from '../../engine/contract/suggest-fix.ts';
import { plainText } from '../../lib/plain-text.ts';
import { countWords } from '../../lib/count-words.ts';
import { CATEGORY_WORDS, operationName, placeWords, timeWords } from './report-words.ts';
import { shareWords } from '../../lib/share-words.ts';
import { type Finding, findingsOf, type Report } from './report.ts';
import { acceptLines, summaryLine } from './table-report.ts';

/** Formats all details of one violation for a terminal. `basePath` is the path under which the API's addresses lie. */
export function detailLines(finding: Finding, basePath: string): readonly string[] {
  const { entry, baselineState, accepted, requests, share, place } = finding;
  const releases = Object.entries(entry.releases).map(([label, count]) => `${label} (${count})`);
  return [
    plainText(entry.message),
    '',
    row('fingerprint', entry.fingerprint),
    row('category', `${entry.category}: ${CATEGORY_WORDS[entry.category]}`),
    row('operation', operationName(entry.operation)),
    row('place', placeWords(entry)),
    row('check', `${entry.check}, ${entry.keyword}`),
    row(
      'contract',
      `${place.file}${place.line === undefined ? '' : `:${place.line}`}${place.pointer === '' ? '' : `  #${place.pointer}`}`,
    ),
    row('seen', `${countWords(entry.count, 'time')} in ${countWords(requests, 'request')} (${shareWords(share)})`),
    row('first seen', `${timeWords(entry.firstSeenAt)} UTC`),
    row('last seen', `${timeWords(entry.lastSeenAt)} UTC`),
    row('callers', `about ${entry.callers}`),
    row('releases', releases.length === 0 ? 'none in this period' : releases.join(', ')),
    row('state', baselineState),
    ...(accepted === undefined
      ? []
      : [
          row(
            'acceptance',
            `${accepted.owner}, ${accepted.expires === undefined ? 'no expiry' : `until ${accepted.expires}`}: ${accepted.reason}`,
          ),
        ]),
    ...(entry.candidate === undefined ? [] : [row('shadow', `${entry.candidate} by the shadow contract`)]),
    ...(entry.suggestion === undefined ? [] : [row('suggestion', entry.suggestion)]),
    '',
    'Samples',
    ...(entry.samples.length === 0 ? ['  no requests were recorded'] : []),
    ...entry.samples.map(
      ({ requestId, seenAt, found }) =>
        `  ${timeWords(seenAt)}  request ${plainText(requestId)}${found === undefined ? '' : `: ${plainText(found)}`}`,
    ),
    '',
    ...acceptanceLines(finding),
    ...overlayLines(finding, basePath),
  ];
}

/**
 * Describes how to accept a violation or withdraw its acceptance. If the violation cannot be accepted, explains why.
 */
function acceptanceLines(finding: Finding): readonly string[] {
  const { entry, baselineState, accepted } = finding;
  const fingerprint = plainText(entry.fingerprint);
  if (baselineState === 'accepted')
    return [`It is accepted. To withdraw the acceptance, delete the entry ${fingerprint} from the baseline.`];
  if (isOutage(entry)) return ['This is a failure of the upstream: fix it instead of accepting it.'];
  if (accepted !== undefined)
    return [
      `Its acceptance ended on ${plainText(accepted.expires ?? '')}. To renew it, change expires of the entry ${fingerprint}.`,
    ];
  return [
    'To accept it, add these lines below "accepted:" in the baseline (--baseline, contract.baseline)',
    ...acceptLines(finding),
    summaryLine(finding),
  ];
}

const row = (name: string, value: string): string => `  ${name.padEnd(12)} ${plainText(value)}`;

function overlayLines(finding: Finding, basePath: string): readonly string[] {
  const { advice, overlay } = suggestFix(finding.entry, finding.place, basePath);
  return ['', advice, ...overlay.map((line) => `  ${line}`)];
}

const SAFE: ReadonlySet<string> = new Set(['GET', 'OPTIONS']);

/** Decides which entries are suggested. */
interface AllowRules {
  /** The path under which all of the API's addresses lie. */
  readonly basePath: string;
  /** Returns whether the configuration already allows a request. */
  readonly isAllowed: (method: string, path: string) => boolean;
  /** Returns whether `portico audit` would call an entry critical. Such an entry is not suggested. */
  readonly isCritical: (entry: SuggestedEntry) => boolean;
}

/**
 * Returns a YAML block for the configuration. It allows the requests for undocumented paths in a report, except those
 * that are allowed already. Requests whose paths the ledger does not store completely, and entries that an audit would
 * call critical, are listed in comments instead. Requests with accepted violations are included, because accepting a
 * violation does not allow any requests.
 */
export function suggestAllowLines(
  report: Pick<Report, 'groups' | 'dropped'>,
  { basePath, isAllowed, isCritical }: AllowRules,
): readonly string[] {
  const undocumented = findingsOf(report).filter(({ entry }) => entry.check === 'undocumented');
  const counts = new Map<string, SuggestedEntry & { count: number }>();
  for (const { entry } of undocumented) {
    const allow = allowEntryOf(entry, basePath);
    if (allow === undefined || isAllowed(allow.method, allow.path)) continue;
    const key = `${allow.path} ${allow.method}`;
    counts.set(key, { ...allow, count: (counts.get(key)?.count ?? 0) + entry.count });
  }
  const all = [...counts.keys()].toSorted().flatMap((key) => counts.get(key) ?? []);
  const entries = all.filter((entry) => !isCritical(entry));
  const critical = all.filter(isCritical);
  const linesOf = (title: string, isSafe: boolean) => {
    const group = entries.filter(({ method }) => SAFE.has(method) === isSafe);
    const lines = group.map((one) => `    ${allowEntryLine(one)} # ${noteOf(one)}`);
    return lines.length === 0 ? [] : [`    # ${title}`, ...lines];
  };
  const unsuggested = undocumented.filter(({ entry }) => allowEntryOf(entry, basePath) === undefined);
  const hidden = unsuggested.filter(({ entry }) => isAllowable(entry, basePath));
  const never = unsuggested.filter(({ entry }) => !isAllowable(entry, basePath));
  return [
    '# Entries for undocumented paths. Delete the entries that your clients do not need.',
    '# {id} matches any one segment.',
    ...(report.dropped === 0 ? [] : ['# The ledger dropped records, so entries can be missing.']),
    'undocumented:',
    entries.length === 0 ? '  allow: []' : '  allow:',
    ...linesOf('The modes staging and strict refuse these requests without an entry.', false),
    ...linesOf('Only the mode strict refuses these requests without an entry.', true),
    ...(critical.length === 0
      ? []
      : ['# Anyone could change content with these entries. Add a permission that anonymous callers do not have:']),
    ...critical.map((one) => `#   ${allowEntryLine(one)}`),
    ...commentsOf(
      '# The ledger does not store some words of these paths. Write the paths yourself, without a wildcard:',
      hidden,
    ),
    ...commentsOf('# No entry can allow these requests, because of their method or their path:', never),
  ];
}

/** Lists the places of findings in comments. Returns no lines if there are no findings. */
function commentsOf(title: string, findings: readonly Finding[]): readonly string[] {
  if (findings.length === 0) return [];
  return [title, ...findings.map(({ entry }) => `#   ${entry.at.replaceAll(/[^!-~ …]/g, '?')}`)];
}

const noteOf = ({ count }: { readonly count: number }): string => countWords(count, 'request');

/** Returns whether an entry could allow the requests of a ledger entry if their whole path were known. */
function isAllowable({ check, direction, at }: LedgerEntry, basePath: string): boolean {
  const [, method = '', place = ''] = /^([A-Z-]+) (\/.*)$/.exec(at) ?? [];
  if (check !== 'undocumented' || direction !== 'request') return false;
  return isAllowedMethod(method) && place.startsWith(basePath) && /^[^#\s]/.test(place.slice(basePath.length));
}
