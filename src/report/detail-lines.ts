import { keysOf } from '../lib/json-pointer.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import { plainText } from './plain-text.ts';
import { CATEGORY_WORDS, countWords, operationName, placeWords, shareWords, timeWords } from './report-words.ts';
import type { Finding } from './report.ts';
import { acceptLines, summaryLine } from './table-report.ts';

/** Everything about one violation, for a terminal. */
export function detailLines(finding: Finding): readonly string[] {
  const { entry, standing, accepted, requests, share, place } = finding;
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
    row('state', standing),
    ...(accepted === undefined
      ? []
      : [
          row(
            'acceptance',
            `${accepted.owner}, ${accepted.expires === undefined ? 'no end' : `until ${accepted.expires}`}: ${accepted.reason}`,
          ),
        ]),
    ...(entry.candidate === undefined ? [] : [row('candidate', `${entry.candidate} by the candidate contract`)]),
    ...(entry.suggestion === undefined ? [] : [row('suggestion', entry.suggestion)]),
    '',
    'Seen in',
    ...(entry.samples.length === 0 ? ['  no request is remembered'] : []),
    ...entry.samples.map(
      ({ requestId, seenAt, found }) =>
        `  ${timeWords(seenAt)}  request ${plainText(requestId)}${found === undefined ? '' : `: ${plainText(found)}`}`,
    ),
    '',
    'Accept it: these lines below "accepted:" in the baseline (--baseline, contract.baseline)',
    ...acceptLines(finding),
    summaryLine(finding),
    ...overlayLines(finding),
  ];
}

const row = (name: string, value: string): string => `  ${name.padEnd(12)} ${plainText(value)}`;

/** How an overlay would make one violation stop, where one can: an OpenAPI Overlay 1.0 to start from, as lines of YAML. */
export function overlayLines({ entry, place }: Finding): readonly string[] {
  const { schema } = place;
  if (schema === undefined) return ['', `Mend it: ${mendWords(entry)}`];
  const actions = actionsOf(entry.keyword, entry.at, schema.target, schema.value);
  return [
    '',
    'Mend it: an overlay for contract.overlays, if the contract is wrong and not the server',
    '  overlay: 1.0.0',
    `  info: { title: ${JSON.stringify(plainText(entry.fingerprint))}, version: '1' }`,
    '  actions:',
    ...actions.map((line) => `    ${plainText(line)}`),
  ];
}

/** What is changed where no schema is: who asks, who answers, or what the configuration says of both. */
function mendWords({ check, direction, category }: LedgerEntry): string {
  if (check === 'permissions')
    return 'the roles file (roles.file), where it is wrong; portico explain METHOD TARGET --as NAME tells what decides.';
  if (direction === 'response')
    return 'the server, for this is no statement of a schema. portico learn proposes overlays from what was seen.';
  if (check === 'undocumented')
    return 'the client, or let it pass with an entry in undocumented.allow, or describe it in an overlay.';
  if (check === 'pageBounds')
    return 'the client, or the bounds: pageBounds, and those of one operation below operations.';
  if (category === 'undocumented') return 'the client, or let it pass by its name in parameters.allow.';
  return 'the client, for this is no statement of a schema; or the contract, with an overlay.';
}

function actionsOf(keyword: string, at: string, target: string, schema: Readonly<Record<string, unknown>>): string[] {
  if (keyword === 'required') {
    const name = keysOf(at).at(-1) ?? '';
    const required = Array.isArray(schema['required']) ? (schema['required'] as unknown[]) : [];
    // Lists are appended to, so that one that shall lose a name goes and comes again.
    return [
      select(`${target}.required`),
      '  remove: true',
      select(target),
      `  update: { required: ${JSON.stringify(required.filter((one) => one !== name))} }`,
    ];
  }
  if (keyword === 'enum') return [select(`${target}.enum`), '  update: THE-VALUE-THAT-IS-RIGHT'];
  const stated = JSON.stringify(schema[keyword] ?? null);
  return [select(target), `  update: { ${JSON.stringify(keyword)}: WHAT-IS-RIGHT }  # it says ${stated}`];
}

const select = (path: string): string => `- target: ${JSON.stringify(path)}`;
