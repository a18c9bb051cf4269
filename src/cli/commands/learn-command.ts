import { resolve } from 'node:path';
import type { Settings } from '../../config/settings.ts';
import { emptyObservations, type Observations } from '../../learn/observations/observations.ts';
import type { Proposal } from '../../learn/propose/proposal.ts';
import { systemClock } from '../../lib/clock.ts';
import { type Command, CommandFailure, type CommandIo, type CommandLine, EXIT, UsageError } from '../command.ts';
import { CONFIG_FLAGS, settingsFrom } from '../config-flags.ts';
import { numberFlag } from '../flag-values.ts';
import { outputFile, writeText } from '../terminal/write-text.ts';

/** Flags that say how a server is asked. */
const WALK_FLAGS = ['user', 'id', 'max-requests', 'delay', 'probe-page-size'];

/** `portico learn`: what the contract does not show, as an overlay with its evidence. */
export const learnCommand: Command = {
  name: 'learn',
  summary: 'Propose an overlay for what the contract does not show, from traffic or from a walk',
  words: '',
  wordCount: [0, 0],
  flags: [
    ...CONFIG_FLAGS,
    { name: 'against', value: 'URL', help: 'Ask this server, with safe requests only, instead of reading a file.' },
    { name: 'observations', value: 'FILE', help: 'What was observed; learn.file by default.' },
    { name: 'output', value: 'FILE', help: 'Where the overlay goes; standard output (-) by default.' },
    { name: 'min-confidence', value: 'SHARE', help: 'Leave out what is less sure, 0 to 1; 0.4 by default.' },
    { name: 'min-answers', value: 'NUMBER', help: 'Answers in which a name must have been; 3, the least, by default.' },
    { name: 'write-addresses', help: 'Write every learned address into the overlay, not only look-ups of tickets.' },
    { name: 'user', value: 'NAME', help: 'Who asks; the password comes from PORTICO_PASSWORD or is asked for.' },
    { name: 'id', value: 'NAME=ID', multiple: true, help: 'An id that the walk cannot find, for example jobId=12.' },
    { name: 'max-requests', value: 'NUMBER', help: 'Most requests of the walk over the contract; 300 by default.' },
    { name: 'delay', value: 'MS', help: 'Pause between requests in milliseconds; 50 by default.' },
    { name: 'probe-page-size', help: 'Ask for pages of up to 1000 items, to find the largest.' },
  ],
  notes: [
    'portico learn --output learned.yaml',
    'portico learn --against https://qa.example/qa --user reader --output learned.yaml < password-file',
    'No value of an answer is kept or proposed: types, forms and counts only. Name the file in contract.overlays.',
  ],
  run: async (line, io) => {
    const limits = {
      minAnswers: numberFlag(line, 'min-answers', 3, [3, 1_000_000]),
      minConfidence: shareOf(line),
      writeAddresses: line.last('write-addresses') !== undefined,
    };
    const settings = await settingsFrom(line, io);
    refuseOverlay(line, io, settings);
    const { readLearnDocument } = await import('../../assembly/learning.ts');
    const { propose } = await import('../../learn/propose/propose.ts');
    const observations = await observe(line, io, settings);
    const proposals = propose(observations, readLearnDocument(settings), limits);
    await tell(line, io, proposals, observations);
    return EXIT.ok;
  },
};

/** What an overlay in force says is not proposed again, so that writing over it would lose all of it. */
function refuseOverlay(line: CommandLine, io: Pick<CommandIo, 'cwd'>, { contract }: Settings): void {
  const output = outputFile(line);
  if (output === undefined || !contract.overlays.includes(resolve(io.cwd, output))) return;
  throw new UsageError(
    `--output ${output}: contract.overlays names this file, and what it says is not proposed again; write to another one and name both`,
  );
}

async function tell(
  line: CommandLine,
  io: CommandIo,
  proposals: readonly Proposal[],
  observations: Observations,
): Promise<void> {
  const { proposalLines } = await import('../../learn/propose/proposal.ts');
  const { toOverlay } = await import('../../learn/propose/to-overlay.ts');
  const { stringify } = await import('yaml');
  const output = outputFile(line);
  const overlay = toOverlay(proposals, observations);
  const say = output === undefined ? io.err : io.out;
  proposalLines(proposals).forEach((text) => say(text));
  if (observations.dropped > 0) io.err(`${observations.dropped} shapes were left out: a limit was reached.`);
  if (overlay === undefined) {
    io.err(`Nothing to write: ${observations.answers} answers were observed.`);
    return;
  }
  writeText(stringify(overlay, { lineWidth: 120, aliasDuplicateObjects: false }).trimEnd(), line, io);
  if (output !== undefined)
    io.err(`${overlay.actions.length} actions: read them, then name the file in contract.overlays.`);
}

async function observe(line: CommandLine, io: CommandIo, settings: Settings): Promise<Observations> {
  const against = line.last('against');
  const file = line.last('observations');
  const { readObservationFile } = await import('../../assembly/observation-file.ts');
  const place = file === undefined ? settings.placeOf('/learn/file') : { source: '--observations', pointer: '' };
  const path = file === undefined ? settings.learn.file : resolve(io.cwd, file);
  if (against === undefined) {
    const given = WALK_FLAGS.find((name) => line.all(name).length > 0);
    if (given !== undefined) throw new UsageError(`--${given} needs --against`);
    const read = readObservationFile(path, place, 0);
    if (read.sinceAt === 0) throw nothingObserved(path);
    return read;
  }
  const before =
    file === undefined ? emptyObservations(systemClock()) : readObservationFile(path, place, systemClock());
  const { observeUpstream } = await import('./observe-upstream.ts');
  return observeUpstream(against, line, io, settings, before);
}

function nothingObserved(path: string): Error {
  return new CommandFailure(
    `${path} does not exist: nothing was observed yet. Set learn.traffic: true and let traffic pass, or use --against URL.`,
  );
}

function shareOf(line: CommandLine): number {
  const text = line.last('min-confidence') ?? '0.4';
  if (/^(?:0(?:\.\d{1,6})?|1(?:\.0{1,6})?)$/.test(text)) return Number(text);
  throw new UsageError('--min-confidence must be a number from 0 to 1');
}
