import { featuresOf } from '../../engine/feature.ts';
import { resolve } from 'node:path';
import type { Settings } from '../../engine/config/settings.ts';
import type { Baseline } from '../../engine/model/ledger-entry.ts';
import { type FailRule, parseFailRule } from '../../workbench/report/fail-on.ts';
import { type CommandIo, type CommandLine, EXIT, type Flag, UsageError } from '../../lib/command.ts';
import { acceptanceReader, acceptedIn } from './kept-records.ts';

/** The flags shared by all commands that can fail a pipeline. */
export const FAIL_FLAGS: readonly Flag[] = [
  { name: 'baseline', value: 'FILE', help: 'File of accepted violations; contract.baseline by default.' },
  {
    name: 'fail-on',
    value: 'RULE',
    multiple: true,
    help: 'Exit with code 1 if violations match new, CATEGORY[,CATEGORY] or count=N, or if the upstream failed (outages). Accepted violations never match, and advisories match only rules that name their category.',
  },
];

/**
 * Reads the baseline specified by `--baseline`. Without this flag, reads the configured baseline. That file might not
 * exist yet, nor one to which the command adds accepted repairs.
 */
export function readBaseline(line: CommandLine, { cwd }: Pick<CommandIo, 'cwd'>, settings: Settings): Baseline {
  const named = line.last('baseline');
  if (named === undefined) return acceptedIn(settings);
  const [reader, file] = [acceptanceReader(featuresOf(settings)), resolve(cwd, named)];
  return line.has('accept-repairs') ? reader.open(file, settings).read() : reader.read(file);
}

/** Parses all values of `--fail-on`. Throws a UsageError if a value is invalid. */
export function failRules(line: CommandLine): readonly FailRule[] {
  return line.all('fail-on').map((text) => {
    const rule = parseFailRule(text);
    if ('fault' in rule) throw new UsageError(rule.fault);
    return rule;
  });
}

/** Writes one line to standard error that states why a report failed. Returns the exit code. */
export function reportFailures(reasons: readonly string[], io: Pick<CommandIo, 'err'>): number {
  if (reasons.length === 0) return EXIT.ok;
  io.err(`portico: failed: ${reasons.join('; ')}`);
  return EXIT.failed;
}
