import { type Command, type CommandLine, EXIT, UsageError } from '../command.ts';
import { CONFIG_FLAGS, settingsFrom } from '../config-flags.ts';
import { contractWords } from '../terminal/banner.ts';
import { withAssembly } from '../config-flags.ts';
import { FAIL_FLAGS } from './report-flags.ts';
import { warningLines } from '../terminal/banner.ts';

const WALK_FLAGS = [
  { name: 'against', value: 'URL', help: 'Walk the safe operations of this server and fill the ledger.' },
  { name: 'user', value: 'NAME', help: 'Who asks; the password comes from PORTICO_PASSWORD or is asked for.' },
  { name: 'id', value: 'NAME=ID', multiple: true, help: 'An id that the walk cannot find, for example jobId=12.' },
  { name: 'max-requests', value: 'NUMBER', help: 'The most requests of the walk; 200 by default.' },
  { name: 'delay', value: 'MS', help: 'The pause between two of them; 50 by default.' },
  { name: 'timeout', value: 'SECONDS', help: 'How long one of them may take; as in upstream: by default.' },
  { name: 'release', value: 'LABEL', help: 'The release under which it is counted; release by default.' },
  { name: 'ledger', value: 'FILE', help: 'The ledger that is filled; ledger.file by default.' },
  ...FAIL_FLAGS,
];

/** `portico check`: everything that would keep the gateway from starting, without starting it; with `--against` the upstream too. */
export const checkCommand: Command = {
  name: 'check',
  summary: 'Check configuration, contract and roles; with --against walk a live server',
  words: '',
  wordCount: [0, 0],
  flags: [...CONFIG_FLAGS, ...WALK_FLAGS],
  notes: [
    'Without --against the upstream is not called.',
    '',
    'portico check --against http://staging.example.org/qa --user checker',
    '',
    'The walk only reads: it sends GET to the operations of the contract, one request at a time.',
  ],
  run: async (line, io) => {
    if (line.last('against') !== undefined) {
      const { walkUpstream } = await import('./walk-upstream.ts');
      return walkUpstream(line, io);
    }
    refuseWalkFlags(line);
    const settings = await settingsFrom(line, io);
    const { warnings, operations } = await withAssembly(settings, ({ warnings: odd, planLines }) => ({
      warnings: odd,
      operations: planLines.length,
    }));
    warningLines(warnings).forEach(io.err);
    const further = contractWords(settings.contract).map((words) => `, ${words}`);
    io.out(`OK: ${settings.file}, ${operations} operations, mode ${settings.mode.name}${further.join('')}`);
    return EXIT.ok;
  },
};

function refuseWalkFlags(line: CommandLine): void {
  const given = WALK_FLAGS.find(({ name }) => line.all(name).length > 0);
  if (given !== undefined) throw new UsageError(`--${given.name} is about a walk: add --against URL`);
}
