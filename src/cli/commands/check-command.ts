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

/**
 * The `portico check` command reports all configuration errors without starting the gateway. With `--against`, it also
 * sends requests for the contract's operations to a server.
 */
export const checkCommand: ProgramCommand = {
  name: 'check',
  summary: 'Check the configuration, contract and roles; with --against, check a live server',
  args: '',
  argCount: [0, 0],
  flags: [...CONFIG_FLAGS, FORMAT_FLAG, ...WALK_FLAGS],
  notes: [
    'Without --against, the command sends no requests. With --against, it sends only GET requests for the contract’s',
    'operations, one at a time, and changes nothing on the server.',
    '',
    'Example: portico check --against http://staging.example.org/qa --user checker',
  ],
  run: async (line, io) => {
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

function rejectWalkFlags(line: CommandLine): void {
  const used = WALK_FLAGS.find(({ name }) => line.all(name).length > 0);
  if (used !== undefined) throw new UsageError(`--${used.name} requires --against URL`);
}
