import { acceptLines, summaryLine } from './accept-lines.ts';
import { plainText } from './plain-text.ts';
import type { Finding } from './report.ts';
import { overlayLines } from './overlay-hint.ts';
import { CATEGORY_WORDS, countWords, operationName, placeWords, shareWords, timeWords } from './report-words.ts';

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
