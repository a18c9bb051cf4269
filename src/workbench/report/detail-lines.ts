import { keysOf } from '../../lib/json-pointer.ts';
import { isOutage, type LedgerEntry } from '../../engine/model/ledger-entry.ts';
import { REHEARSAL } from '../../engine/model/violation.ts';
import { plainText } from './plain-text.ts';
import { CATEGORY_WORDS, countWords, operationName, placeWords, shareWords, timeWords } from './report-words.ts';
import { type Finding, findingsOf, type Report } from './report.ts';
import { acceptLines, summaryLine } from './table-report.ts';

/** Formats all details of one violation for a terminal. */
export function detailLines(finding: Finding): readonly string[] {
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
    ...overlayLines(finding),
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

function overlayLines(finding: Finding): readonly string[] {
  const { advice, overlay } = fixOf(finding);
  return ['', advice, ...overlay.map((line) => `  ${line}`)];
}

/** A suggested fix for a violation. */
interface Fix {
  /** A sentence that states what to change. */
  readonly advice: string;
  /** The lines of an OpenAPI Overlay 1.0 template. Empty if the suggested fix is not an overlay. */
  readonly overlay: readonly string[];
}

/** Suggests a fix for a violation: an overlay for the contract, or another change. */
export function fixOf({ entry, place: { schema } }: Pick<Finding, 'entry' | 'place'>): Fix {
  if (schema === undefined) return { advice: `To fix it, change ${placeToFix(entry)}`, overlay: [] };
  const actions = actionsOf(entry.keyword, entry.at, schema.target, schema.value);
  return {
    advice: 'If the server is right, fix the contract with this overlay (contract.overlays)',
    overlay: [
      'overlay: 1.0.0',
      `info: { title: ${JSON.stringify(plainText(entry.fingerprint))}, version: '1' }`,
      'actions:',
      ...actions.map((line) => `  ${plainText(line)}`),
    ],
  };
}

/** Suggests a fix for a violation that was not found by a schema. */
function placeToFix(entry: LedgerEntry): string {
  const { check, direction, keyword } = entry;
  if (check === 'permissions')
    return 'the roles file (roles.file) if the decision is wrong; portico explain METHOD TARGET --as NAME shows the decision.';
  if (check === 'errors') return `the server, or keep its status with ${entry.suggestion ?? 'errors: legacy'}.`;
  if (entry.category === REHEARSAL)
    return 'the server, so that it responds to the request of staging as it does to that of the client.';
  if (direction === 'response') return 'the server. portico learn proposes overlays from sampled responses.';
  if (check === 'undocumented') {
    const allow = allowEntryOf(entry);
    const add = allow === undefined ? '' : `add this entry to undocumented.allow: ${allowEntryLine(allow)}, or `;
    return `the client, or ${add}describe the path in an overlay.`;
  }
  if (check === 'pageBounds') return 'the client or the limits: pageBounds, or pageBounds of one operation.';
  if (keyword === 'unknown') return 'the client, or add the parameter to parameters.allow.';
  return 'the client, or the contract with an overlay.';
}

function actionsOf(keyword: string, at: string, target: string, schema: Readonly<Record<string, unknown>>): string[] {
  if (keyword === 'required' || keyword === 'x-expected') {
    const name = keysOf(at).at(-1) ?? '';
    const listed = Array.isArray(schema[keyword]) ? (schema[keyword] as unknown[]) : [];
    const remaining = JSON.stringify(listed.filter((one) => one !== name));
    // An overlay can only append to a list. To remove a name, it must therefore remove the whole list and add the
    // list again without the name.
    return [
      select(target + childOf(keyword)),
      '  remove: true',
      select(target),
      `  update: { ${keyword}: ${remaining} }`,
    ];
  }
  if (keyword === 'enum' || keyword === 'x-expected-enum')
    return [select(target + childOf(keyword)), '  update: CORRECT-VALUE'];
  const stated = JSON.stringify(schema[keyword] ?? null);
  return [select(target), `  update: { ${JSON.stringify(keyword)}: CORRECT-VALUE }  # now ${stated}`];
}

const childOf = (keyword: string): string => (keyword.startsWith('x-') ? `['${keyword}']` : `.${keyword}`);

const select = (path: string): string => `- target: ${JSON.stringify(path)}`;

/** A suggested entry for `undocumented.allow`. */
interface SuggestedEntry {
  readonly method: string;
  readonly path: string;
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const BELOW_BASE = /^\/services\/v2\/[^?#\s]+$/;
const SAFE: ReadonlySet<string> = new Set(['GET', 'OPTIONS']);

/**
 * Returns whether the ledger has masked or removed parts of a path. An entry with a wildcard in their place would also
 * allow other paths, such as `admin/{name}` for requests for `admin/reindex`.
 */
function hidesText(place: string): boolean {
  return /\?|\{name\}|\*|…/.test(place);
}

/**
 * Returns the `undocumented.allow` entry that would allow the requests of a ledger entry. Returns undefined for
 * violations of other kinds, and for requests that no entry can allow.
 */
function allowEntryOf({ check, direction, at }: LedgerEntry): SuggestedEntry | undefined {
  const [, method = '', place = ''] = /^([A-Z-]+) (\/.*)$/.exec(at) ?? [];
  if (check !== 'undocumented' || direction !== 'request') return undefined;
  // An entry for GET also allows HEAD.
  const allowed = method === 'HEAD' ? 'GET' : method;
  return METHODS.has(allowed) && BELOW_BASE.test(place) && !hidesText(place)
    ? { method: allowed, path: place }
    : undefined;
}

/** Formats an `undocumented.allow` entry as one line of YAML. */
const allowEntryLine = ({ method, path }: SuggestedEntry): string => `- { method: ${method}, path: '${path}' }`;

/** Decides which entries are suggested. */
interface AllowRules {
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
  { isAllowed, isCritical }: AllowRules,
): readonly string[] {
  const undocumented = findingsOf(report).filter(({ entry }) => entry.check === 'undocumented');
  const counts = new Map<string, SuggestedEntry & { count: number }>();
  for (const { entry } of undocumented) {
    const allow = allowEntryOf(entry);
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
  const unsuggested = undocumented.filter(({ entry }) => allowEntryOf(entry) === undefined);
  const hidden = unsuggested.filter(({ entry }) => isAllowable(entry));
  const never = unsuggested.filter(({ entry }) => !isAllowable(entry));
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
function isAllowable({ check, direction, at }: LedgerEntry): boolean {
  const [, method = '', place = ''] = /^([A-Z-]+) (\/.*)$/.exec(at) ?? [];
  if (check !== 'undocumented' || direction !== 'request') return false;
  return METHODS.has(method === 'HEAD' ? 'GET' : method) && /^\/services\/v2\/[^#\s]/.test(place);
}
