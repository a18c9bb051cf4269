import { DIFFERENCE, isAdvisory, REHEARSAL, type ViolationCategory } from '../../engine/model/violation.ts';
import { type Change, CHANGE_WORDS, changedShares, type RenderComparison } from './comparison.ts';
import { jsonText } from './json-report.ts';
import { plainText } from '../../lib/plain-text.ts';
import { CATEGORY_WORDS, operationName, placeWords } from './report-words.ts';
import { shareWords } from '../../lib/share-words.ts';
import { type Finding, findingsOf, type RenderReport } from './report.ts';

const SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json';

/**
 * Renders a report in SARIF format for code scanning. Accepted violations are suppressed, and each result points to a
 * location in the contract.
 */
export const renderSarif: RenderReport = (report, { version }) =>
  sarifLog(
    findingsOf(report).map((finding) => ({ finding, state: finding.baselineState === 'new' ? 'new' : 'unchanged' })),
    report.takenAt,
    version,
  );

/** A finding with its SARIF `baselineState` and additional text for the message. */
interface SarifFinding {
  readonly finding: Finding;
  readonly state: 'new' | 'unchanged' | 'updated' | 'absent';
  readonly words?: string;
}

/** Renders a SARIF 2.1.0 log with one run. */
function sarifLog(results: readonly SarifFinding[], takenAt: number, version: string): string {
  const findings = results.map(({ finding }) => finding);
  const ids = [...new Set(findings.map(ruleIdOf))].toSorted();
  const instant = new Date(takenAt).toISOString();
  return jsonText({
    $schema: SCHEMA,
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'Portico',
            version,
            informationUri: 'portico:/docs/reports.md',
            rules: ids.map((id) => toRule(id, findings)),
          },
        },
        automationDetails: { id: 'portico/contract/' },
        invocations: [{ executionSuccessful: true, endTimeUtc: instant }],
        columnKind: 'utf16CodeUnits',
        results: results.map((result) => toResult(result, ids)),
      },
    ],
  });
}

const ruleIdOf = ({ entry }: Finding): string => `${entry.category}/${plainText(entry.keyword)}`;

/** What the violations of a category mean, if they are not about the contract. */
const MEANINGS: Readonly<Partial<Record<ViolationCategory, string>>> = {
  [REHEARSAL]: 'the upstream responds differently to the request that staging sends.',
  [DIFFERENCE]: 'two servers respond differently to the same request.',
};

function toRule(id: string, findings: readonly Finding[]) {
  const category = findings.find((finding) => ruleIdOf(finding) === id)?.entry.category ?? 'semantic';
  const text = `${CATEGORY_WORDS[category]} (${id})`;
  return {
    id,
    name: id
      .split(/[^A-Za-z0-9]+/)
      .map((part) => part.slice(0, 1).toUpperCase() + part.slice(1))
      .join(''),
    shortDescription: { text },
    fullDescription: {
      text: `${text}: ${MEANINGS[category] ?? 'a request or response differs from the contract.'}`,
    },
    helpUri: 'portico:/docs/ledger.md#entries',
    help: {
      text: 'portico report FINGERPRINT shows samples, the place in the contract, and how to accept the violation.',
    },
    defaultConfiguration: { level: 'warning' },
    properties: { tags: ['contract', category] },
  };
}

function toResult({ finding, state, words: more }: SarifFinding, ids: readonly string[]) {
  const { entry, accepted, share, place } = finding;
  const ruleId = ruleIdOf(finding);
  const words = [
    `${operationName(entry.operation)}, ${placeWords(entry)}: ${entry.message.replace(/\.$/, '')}.`,
    `Occurred ${entry.count} times (${shareWords(share)} of the requests).`,
    ...(entry.suggestion === undefined ? [] : [`${entry.suggestion}.`]),
    ...(more === undefined ? [] : [`${more}.`]),
  ];
  return {
    ruleId,
    ruleIndex: ids.indexOf(ruleId),
    level: isAdvisory(entry) ? 'note' : entry.direction === 'response' ? 'error' : 'warning',
    message: { text: plainText(words.join(' ')) },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(place.file) },
          region: { startLine: place.line ?? 1 },
        },
        logicalLocations: [
          { fullyQualifiedName: plainText(`${operationName(entry.operation)} ${placeWords(entry)}`), kind: 'function' },
        ],
      },
    ],
    partialFingerprints: { 'porticoViolation/v1': plainText(entry.fingerprint) },
    occurrenceCount: Math.max(1, entry.count),
    baselineState: state,
    ...(finding.baselineState === 'accepted' && {
      suppressions: [
        {
          kind: 'external',
          status: 'accepted',
          justification: plainText(`${accepted?.owner ?? ''}: ${accepted?.reason ?? ''}`),
        },
      ],
    }),
    properties: { pointer: place.pointer, schemaPath: plainText(entry.schemaPath), standing: finding.baselineState },
  };
}

/** Converts a path to a relative reference (RFC 3986). */
const uriOf = (file: string): string => file.split('/').map(encodeURIComponent).join('/');

/** The SARIF `baselineState` for each kind of change. */
const STATES: Readonly<Record<Change, SarifFinding['state']>> = {
  new: 'new',
  more: 'updated',
  less: 'updated',
  same: 'unchanged',
  gone: 'absent',
  // The violation may still exist, so code scanning must not close it.
  unchecked: 'unchanged',
};

/**
 * Renders a comparison in SARIF format for code scanning. It contains the results from both sides, each with its
 * `baselineState`.
 */
export const renderComparedSarif: RenderComparison = ({ findings, takenAt }, { version }) =>
  sarifLog(
    findings.map((one) => ({
      finding: one.finding,
      state: STATES[one.change],
      words: `${CHANGE_WORDS[one.change]}: ${changedShares(one)}`,
    })),
    takenAt,
    version,
  );
