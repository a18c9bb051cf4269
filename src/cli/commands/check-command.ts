import { StartFault } from '../../engine/model/fault.ts';
import { type CommandLine, EXIT, UsageError } from '../../lib/command.ts';
import type { ProgramCommand } from '../program.ts';
import { FORMAT_FLAG, wantsJson } from '../command-output.ts';
import { jsonDocument } from '../../lib/json-document.ts';
import { CONFIG_FLAGS } from '../flags/config-flags.ts';
import { USER_FLAG } from '../flags/credentials.ts';
import { FAIL_FLAGS } from '../flags/fail-flags.ts';
import { DELAY_FLAG, ID_FLAG } from '../flags/walk-flags.ts';
import { checkConfiguration } from '../tasks/check-configuration.ts';
import { contractWords, warningLines } from '../terminal/banner.ts';

const WALK_FLAGS = [
  { name: 'against', value: 'URL', help: 'Call this server’s safe operations and record violations.' },
  USER_FLAG,
  ID_FLAG,
  { name: 'max-requests', value: 'NUMBER', help: 'Maximum number of requests; 200 by default.' },
  DELAY_FLAG,
  { name: 'timeout', value: 'SECONDS', help: 'Timeout for each request; the configured timeouts by default.' },
  { name: 'release', value: 'LABEL', help: 'Release label for the results; the configured release by default.' },
  { name: 'ledger', value: 'FILE', help: 'Ledger for the results; ledger.file by default.' },
  ...FAIL_FLAGS,
];

const FROM_FLAG = {
  name: 'from',
  value: 'FILE',
  help: 'Check the responses in this recording: a HAR file, or a log with bodies as JSON lines.',
};

/** The flags of a walk that apply to a recording, too. */
const RECORDING_FLAGS: ReadonlySet<string> = new Set(['release', ...FAIL_FLAGS.map(({ name }) => name)]);

/**
 * The `portico check` command reports all configuration errors without starting the gateway. With `--against`, it also
 * sends requests for the contract's operations to a server. With `--from`, it reads recorded responses.
 */
export const checkCommand: ProgramCommand = {
  name: 'check',
  summary: 'Check the configuration, contract and roles; with --against, a live server; with --from, a recording',
  args: '',
  argCount: [0, 0],
  flags: [...CONFIG_FLAGS, FORMAT_FLAG, ...WALK_FLAGS, FROM_FLAG],
  notes: [
    'Without --against, the command sends no requests. With --against, it sends only GET requests for the contract’s',
    'operations, one at a time, and changes nothing on the server.',
    'With --from, it reads a recording of any size. Responses whose bodies were not recorded are counted, not checked.',
    '',
    'Example: portico check --against http://staging.example.org/qa --user checker',
    'Example: portico check --from capture.har --fail-on new',
  ],
  run: async (line, io) => {
    if (line.last('from') !== undefined) {
      rejectOnlyWalkFlags(line);
      const { checkRecording } = await import('../tasks/check-recording.ts');
      return checkRecording(line, io);
    }
    if (line.last('against') !== undefined) {
      const { walkUpstream } = await import('../tasks/walk-upstream.ts');
      return walkUpstream(line, io);
    }
    rejectWalkFlags(line);
    const json = wantsJson(line);
    const { settings, warnings, operations } = await checkConfiguration(line, io).catch((error: unknown) => {
      if (json && error instanceof StartFault)
        io.out(jsonDocument('check', { ok: false, ...NOTHING_LOADED, warnings: [], errors: error.faults }));
      throw error;
    });
    const { file, mode } = settings;
    if (json) {
      const loaded = { configuration: file, operations, mode: mode.name };
      io.out(jsonDocument('check', { ok: true, ...loaded, warnings, errors: [] }));
      return EXIT.ok;
    }
    warningLines(warnings).forEach(io.err);
    const extras = contractWords(settings).map((words) => `, ${words}`);
    io.out(`OK: ${file}, ${operations} operations, mode ${mode.name}${extras.join('')}`);
    return EXIT.ok;
  },
};

const NOTHING_LOADED = { configuration: null, operations: null, mode: null };

function rejectOnlyWalkFlags(line: CommandLine): void {
  const used = WALK_FLAGS.find(({ name }) => !RECORDING_FLAGS.has(name) && line.has(name));
  if (used !== undefined) throw new UsageError(`--${used.name} cannot be combined with --from`);
}

function rejectWalkFlags(line: CommandLine): void {
  const used = WALK_FLAGS.find(({ name }) => line.has(name));
  if (used !== undefined) throw new UsageError(`--${used.name} requires --against URL`);
}
