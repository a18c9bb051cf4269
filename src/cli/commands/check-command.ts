import type { Settings } from '../../config/settings.ts';
import type { BaselineFile } from '../../ledger/baseline-file.ts';
import { ledgerAt } from '../../ledger/store/ledger-location.ts';
import { type Fault, StartFault } from '../../model/fault.ts';
import { isOutage } from '../../model/ledger-entry.ts';
import { type Command, type CommandIo, type CommandLine, EXIT, UsageError } from '../command.ts';
import { CONFIG_FLAGS, settingsFrom, withAssembly } from '../flags/config-flags.ts';
import { contractWords, warningLines } from '../terminal/banner.ts';
import { FORMAT_FLAG, wantsJson } from '../flags/flag-values.ts';
import { checkJson } from '../terminal/json-output.ts';
import { FAIL_FLAGS } from '../flags/report-flags.ts';

const WALK_FLAGS = [
  {
    name: 'against',
    value: 'URL',
    help: 'Call this server’s safe operations and record violations.',
  },
  { name: 'user', value: 'NAME', help: 'User name; the password comes from PORTICO_PASSWORD or a prompt.' },
  { name: 'id', value: 'NAME=ID', multiple: true, help: 'An id that no response contains, for example jobId=12.' },
  { name: 'max-requests', value: 'NUMBER', help: 'Maximum number of requests; 200 by default.' },
  { name: 'delay', value: 'MS', help: 'Pause between requests in milliseconds; 50 by default.' },
  { name: 'timeout', value: 'SECONDS', help: 'Timeout for each request; the configured timeouts by default.' },
  { name: 'release', value: 'LABEL', help: 'Release label for the results; the configured release by default.' },
  { name: 'ledger', value: 'FILE', help: 'Ledger for the results; ledger.file by default.' },
  ...FAIL_FLAGS,
];

/**
 * The `portico check` command reports all configuration errors without starting the gateway. With `--against`, it also
 * walks a server, that is, sends requests for the contract's operations.
 */
export const checkCommand: Command = {
  name: 'check',
  summary: 'Check the configuration, contract and roles; with --against, check a live server',
  args: '',
  argCount: [0, 0],
  flags: [...CONFIG_FLAGS, FORMAT_FLAG, ...WALK_FLAGS],
  notes: [
    'Without --against, the command sends no requests.',
    '',
    'portico check --against http://staging.example.org/qa --user checker',
    '',
    'The walk changes nothing on the server: it sends only GET requests for the contract’s operations, one at a time.',
  ],
  run: async (line, io) => {
    if (line.last('against') !== undefined) {
      const { walkUpstream } = await import('../tasks/walk-upstream.ts');
      return walkUpstream(line, io);
    }
    rejectWalkFlags(line);
    const json = wantsJson(line);
    const { settings, warnings, operations } = await checked(line, io).catch((error: unknown) => {
      if (json && error instanceof StartFault) io.out(checkJson(undefined, { errors: error.faults }));
      throw error;
    });
    const { file, mode } = settings;
    if (json) {
      io.out(checkJson({ configuration: file, operations, mode: mode.name }, { warnings }));
      return EXIT.ok;
    }
    warningLines(warnings).forEach(io.err);
    const extras = contractWords(settings.contract).map((words) => `, ${words}`);
    io.out(`OK: ${file}, ${operations} operations, mode ${mode.name}${extras.join('')}`);
    return EXIT.ok;
  },
};

/** Loads the configuration and assembles the gateway. Throws a StartFault with all configuration errors. */
async function checked(line: CommandLine, io: CommandIo) {
  const settings = await settingsFrom(line, io);
  const found = await withAssembly(settings, ({ warnings, gateway, baseline }) => ({
    warnings,
    operations: gateway.plans.size,
    baseline,
  }));
  const warnings = [...found.warnings, ...(await outageWarnings(settings, found.baseline))];
  return { settings, warnings, operations: found.operations };
}

/**
 * Returns warnings about baseline entries that have no effect because they accept upstream failures. Such entries can
 * be recognized only by means of the ledger, so there are no warnings if the ledger cannot be read.
 */
async function outageWarnings(
  { ledger, redis }: Settings,
  baseline: BaselineFile | undefined,
): Promise<readonly Fault[]> {
  const accepted = baseline?.read().accepted ?? [];
  if (baseline === undefined || accepted.length === 0) return [];
  const snapshot = await ledgerAt(ledger, redis)
    .read({})
    .catch((error: unknown) => {
      if (error instanceof StartFault) return undefined;
      throw error;
    });
  const outages = new Set(snapshot?.entries.filter(isOutage).map(({ fingerprint }) => fingerprint));
  return accepted.flatMap(({ fingerprint }, index) => {
    const message = `has no effect: ${fingerprint} is a failure of the upstream and cannot be accepted`;
    return outages.has(fingerprint) ? [{ source: baseline.file, pointer: `/accepted/${index}`, message }] : [];
  });
}

function rejectWalkFlags(line: CommandLine): void {
  const used = WALK_FLAGS.find(({ name }) => line.all(name).length > 0);
  if (used !== undefined) throw new UsageError(`--${used.name} requires --against URL`);
}
