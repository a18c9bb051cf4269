import type { FailRule } from '../../report/fail-on.ts';
import { REPORT_FORMATS } from '../../report/formats.ts';
import { type CommandLine, UsageError } from '../command.ts';
import { failRules } from './fail-flags.ts';
import { choiceFlag, sinceHour } from './flag-values.ts';

/** The parsed flags and arguments of `portico report`. */
export interface ReportRequest {
  readonly fingerprint: string | undefined;
  readonly compare: readonly [before: string, after: string] | undefined;
  /** True if suggested entries for `undocumented.allow` are requested instead of a report. */
  readonly suggestAllow: boolean;
  /** True if the command succeeds even when the ledger has no data. */
  readonly allowEmpty: boolean;
  readonly format: string;
  readonly since: number | undefined;
  readonly operation: string | undefined;
  readonly release: string | undefined;
  readonly replica: string | undefined;
  readonly rules: readonly FailRule[];
}

/** Reads the flags of `portico report`. Throws a UsageError if the flags are invalid or cannot be combined. */
export function reportRequest(line: CommandLine, now: number): ReportRequest {
  const before = line.last('compare');
  const [word, ...more] = line.args;
  if (more.length > 0) throw new UsageError(`report: unexpected argument "${more.join(' ')}"`);
  if (before !== undefined && word === undefined)
    throw new UsageError('--compare requires two releases or JSON reports: --compare A B');
  const compare = before === undefined || word === undefined ? undefined : ([before, word] as const);
  const fingerprint = compare === undefined ? word?.toLowerCase() : undefined;
  if (fingerprint !== undefined && !/^[0-9a-f]{6,64}$/.test(fingerprint))
    throw new UsageError(
      `"${word ?? ''}" is not a fingerprint: enter at least the first 6 of its 16 hexadecimal digits (report= in Contract-Status)`,
    );
  if (fingerprint !== undefined && line.all('fail-on').length > 0)
    throw new UsageError('--fail-on cannot be combined with a fingerprint');
  if (compare !== undefined && line.last('release') !== undefined)
    throw new UsageError('--compare cannot be combined with --release');
  if (compare !== undefined && line.last('replica') !== undefined)
    throw new UsageError('--compare cannot be combined with --replica');
  if (line.last('release') === '')
    throw new UsageError('--release requires a label, as set with release or PORTICO_RELEASE');
  const suggestAllow = line.all('suggest-allow').length > 0;
  const conflict = ['format', 'fail-on', 'compare'].find((flag) => line.all(flag).length > 0);
  if (suggestAllow && (conflict !== undefined || fingerprint !== undefined))
    throw new UsageError(
      `--suggest-allow cannot be combined with ${conflict === undefined ? 'a fingerprint' : `--${conflict}`}`,
    );
  const since = line.last('since');
  return {
    fingerprint,
    compare,
    suggestAllow,
    allowEmpty: line.all('allow-empty').length > 0,
    format:
      choiceFlag(line, 'format', fingerprint === undefined ? [...REPORT_FORMATS.keys()] : ['table', 'json']) ?? 'table',
    since: since === undefined ? undefined : sinceHour(since, now),
    operation: line.last('operation'),
    release: line.last('release'),
    replica: line.last('replica'),
    rules: failRules(line),
  };
}
