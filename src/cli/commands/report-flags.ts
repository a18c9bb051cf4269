import { parseFailRule, type FailRule } from '../../report/fail-on.ts';
import { REPORT_FORMATS } from '../../report/formats.ts';
import { startOfHour } from '../../lib/clock.ts';
import { parseSince } from '../../report/parse-since.ts';
import { COMPARISON_FORMATS } from '../../report/render-comparison.ts';
import { closestName } from '../../lib/closest-name.ts';
import { type CommandLine, type Flag, UsageError } from '../command.ts';

/** Flags of everything that can end a pipeline. */
export const FAIL_FLAGS: readonly Flag[] = [
  { name: 'baseline', value: 'FILE', help: 'What is known and accepted; contract.baseline by default.' },
  {
    name: 'fail-on',
    value: 'RULE',
    multiple: true,
    help: 'Exit 1 on: new, CATEGORY[,CATEGORY], or count=N. Accepted violations never count.',
  },
];

/** What a report is asked for. */
export interface ReportRequest {
  readonly fingerprint: string | undefined;
  readonly compare: readonly [before: string, after: string] | undefined;
  readonly format: string;
  readonly since: number | undefined;
  readonly operation: string | undefined;
  readonly release: string | undefined;
  readonly rules: readonly FailRule[];
}

/** Reads the flags of `portico report`; throws UsageError for what makes no sense. */
export function reportRequest(line: CommandLine, now: number): ReportRequest {
  const before = line.last('compare');
  const [word, ...more] = line.words;
  if (more.length > 0) throw new UsageError(`report takes one word, not "${more.join(' ')}"`);
  if (before !== undefined && word === undefined)
    throw new UsageError('--compare needs two: --compare A B, release labels or JSON reports');
  const compare = before === undefined || word === undefined ? undefined : ([before, word] as const);
  const fingerprint = compare === undefined ? word?.toLowerCase() : undefined;
  if (fingerprint !== undefined && !/^[0-9a-f]{6,64}$/.test(fingerprint))
    throw new UsageError(
      `"${word ?? ''}" is no fingerprint; it is what report= of Contract-Status names, 16 digits from 0 to f, or the first six of them or more`,
    );
  if (fingerprint !== undefined && line.all('fail-on').length > 0)
    throw new UsageError('--fail-on judges a whole report: leave the fingerprint out');
  if (compare !== undefined && line.last('release') !== undefined)
    throw new UsageError('--compare and --release exclude each other: the two sides are releases');
  if (line.last('release') === '')
    throw new UsageError('--release needs a label, as release or PORTICO_RELEASE sets it');
  const since = line.last('since');
  const from = since === undefined ? undefined : parseSince(since, now);
  if (since !== undefined && from === undefined)
    throw new UsageError(`--since ${since}: write 24h, 7d or an instant such as 2026-05-04T10:00Z`);
  return {
    fingerprint,
    compare,
    format: formatOf(
      line,
      compare === undefined
        ? fingerprint === undefined
          ? REPORT_FORMATS.keys()
          : ['table', 'json']
        : COMPARISON_FORMATS.keys(),
    ),
    // The ledger counts by the hour: violations, requests and the words of the report begin at the same instant.
    since: from === undefined ? undefined : startOfHour(from),
    operation: line.last('operation'),
    release: line.last('release'),
    rules: failRules(line),
  };
}

/** Reads every `--fail-on`; throws UsageError. */
export function failRules(line: CommandLine): readonly FailRule[] {
  return line.all('fail-on').map((text) => {
    const rule = parseFailRule(text);
    if ('fault' in rule) throw new UsageError(rule.fault);
    return rule;
  });
}

function formatOf(line: CommandLine, known: Iterable<string>): string {
  const names = [...known];
  const format = line.last('format') ?? 'table';
  if (names.includes(format)) return format;
  const near = closestName(format, names);
  throw new UsageError(
    `--format ${format}: one of ${names.join(', ')}${near === undefined ? '' : `; did you mean ${near}?`}`,
  );
}
