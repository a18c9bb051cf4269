import { resolve } from 'node:path';
import type { Settings } from '../../engine/config/settings.ts';
import { confidenceWord, shownConfidence } from '../../workbench/learn/confidence.ts';
import { emptyObservations, type Observations } from '../../learner/observations/observations.ts';
import type { Proposal } from '../../workbench/learn/propose/proposal.ts';
import { systemClock } from '../../lib/clock.ts';
import { membersOf } from '../../lib/plain-object.ts';
import { CommandFailure, type CommandLine, EXIT, UsageError } from '../../lib/command.ts';
import type { ProgramCommand, ProgramIo } from '../program.ts';
import { outputFile, writeText } from '../command-output.ts';
import { CONFIG_FLAGS, settingsFrom } from '../flags/config-flags.ts';
import { USER_FLAG } from '../flags/credentials.ts';
import { numberFlag } from '../../lib/flag-values.ts';
import { DELAY_FLAG, ID_FLAG } from '../flags/walk-flags.ts';

/** The flags that are accepted only together with `--against`. */
const WALK_FLAGS = ['user', 'id', 'max-requests', 'delay', 'probe-page-size'];

/**
 * The `portico learn` command proposes additions to the contract. It writes them as an overlay, together with the
 * evidence.
 */
export const learnCommand: ProgramCommand = {
  name: 'learn',
  summary: 'Propose changes to the contract as an overlay, based on traffic or a walk',
  args: '',
  argCount: [0, 0],
  flags: [
    ...CONFIG_FLAGS,
    {
      name: 'against',
      value: 'URL',
      help: 'Send safe requests to this server and sample its responses instead of reading a file.',
    },
    { name: 'observations', value: 'FILE', help: 'Observations to read; learn.file by default.' },
    { name: 'output', value: 'FILE', help: 'File for the overlay; standard output (-) by default.' },
    { name: 'min-confidence', value: 'SHARE', help: 'Minimum confidence for a proposal, 0 to 1; 0.4 by default.' },
    {
      name: 'min-answers',
      value: 'NUMBER',
      help: 'Number of responses that must contain a name; 3 by default and at least 3.',
    },
    { name: 'write-addresses', help: 'Write all sampled paths to the overlay, not only those of ticket lookups.' },
    USER_FLAG,
    ID_FLAG,
    {
      name: 'max-requests',
      value: 'NUMBER',
      help: 'Maximum number of requests for documented operations; 300 by default.',
    },
    DELAY_FLAG,
    { name: 'probe-page-size', help: 'Request pages of up to 1000 items to find the maximum page size.' },
  ],
  notes: [
    'Only types, formats, counts and the words of known vocabularies are stored and proposed, never any other values.',
    'Review the overlay, then add it to contract.overlays.',
    'Example: portico learn --output learned.yaml',
    'Example: portico learn --against https://qa.example/qa --user reader --output learned.yaml < password-file',
  ],
  run: async (line, io) => {
    const limits = {
      minResponses: numberFlag(line, 'min-answers', 3, [3, 1_000_000]),
      minConfidence: shareOf(line),
      writeAddresses: line.last('write-addresses') !== undefined,
    };
    const settings = await settingsFrom(line, io);
    rejectAppliedOverlay(line, io, settings);
    const { readLearnDocument } = await import('../../learner/read-learn-document.ts');
    const { propose } = await import('../../workbench/learn/propose/propose.ts');
    const observations = await getObservations(line, io, settings);
    const proposals = propose(observations, readLearnDocument(settings), limits);
    await writeProposals(line, io, proposals, observations);
    return EXIT.ok;
  },
};

/**
 * Rejects an output file that is one of the applied overlays. Additions that are already applied are not proposed
 * again, so overwriting the file would lose them.
 */
function rejectAppliedOverlay(line: CommandLine, io: Pick<ProgramIo, 'cwd'>, { contract }: Settings): void {
  const output = outputFile(line);
  if (output === undefined || !contract.overlays.includes(resolve(io.cwd, output))) return;
  throw new UsageError(
    `--output ${output}: this file is already in contract.overlays, and its content is not proposed again; write to another file and add that one too`,
  );
}

async function writeProposals(
  line: CommandLine,
  io: ProgramIo,
  proposals: readonly Proposal[],
  observations: Observations,
): Promise<void> {
  const { toOverlay } = await import('../../workbench/learn/propose/to-overlay.ts');
  const { stringify } = await import('yaml');
  const output = outputFile(line);
  const overlay = toOverlay(proposals, observations);
  const print = output === undefined ? io.err : io.out;
  proposalLines(proposals).forEach((text) => print(text));
  if (observations.dropped > 0) io.err(`A limit was reached: ${observations.dropped} shapes were omitted.`);
  if (overlay === undefined) {
    io.err(`There is nothing to propose. Sampled responses: ${observations.answers}.`);
    return;
  }
  writeText(
    stringify(overlay, { lineWidth: 120, aliasDuplicateObjects: false, compat: 'yaml-1.1' }).trimEnd(),
    line,
    io,
  );
  if (output !== undefined)
    io.err(`The overlay has ${overlay.actions.length} actions: review them, then add the file to contract.overlays.`);
}

async function getObservations(line: CommandLine, io: ProgramIo, settings: Settings): Promise<Observations> {
  const against = line.last('against');
  const file = line.last('observations');
  const { readObservationFile } = await import('../../learner/observations/observation-file.ts');
  const place = file === undefined ? settings.placeOf('/learn/file') : { source: '--observations', pointer: '' };
  const path = file === undefined ? storedAt(settings) : resolve(io.cwd, file);
  if (against === undefined) {
    const given = WALK_FLAGS.find((name) => line.has(name));
    if (given !== undefined) throw new UsageError(`--${given} requires --against URL`);
    if (path === undefined) throw new UsageError('--observations FILE or --against URL is required');
    const read = readObservationFile(path, place, 0);
    if (read.sinceAt === 0) throw missingObservations(path);
    return read;
  }
  const before =
    file === undefined || path === undefined
      ? emptyObservations(systemClock())
      : readObservationFile(path, place, systemClock());
  const { sampleUpstream } = await import('../tasks/sample-upstream.ts');
  return sampleUpstream(against, line, io, settings, before);
}

/** Returns the file in which gateways store observations. Undefined if they do not learn from traffic. */
function storedAt({ features }: Settings): string | undefined {
  const { file } = membersOf(features.find(({ configurable }) => configurable.name === 'learn')?.options);
  return typeof file === 'string' ? file : undefined;
}

function missingObservations(path: string): Error {
  return new CommandFailure(
    `${path} does not exist: no traffic has been sampled yet. Set learn.traffic: true and wait for traffic, or use --against URL.`,
  );
}

function shareOf(line: CommandLine): number {
  const text = line.last('min-confidence') ?? '0.4';
  if (/^(?:0(?:\.\d{1,6})?|1(?:\.0{1,6})?)$/.test(text)) return Number(text);
  throw new UsageError('--min-confidence must be a number from 0 to 1');
}

const TITLES: Readonly<Record<Proposal['kind'], string>> = {
  shape: 'Shapes that the contract leaves open',
  field: 'Undocumented fields',
  words: 'Words of closed vocabularies',
  type: 'Fields with a different type than documented',
  form: 'Values that the contract restricts more than the server',
  optional: 'Missing required fields',
  envelope: 'Responses with a different envelope than documented',
  'page-size': 'Page sizes',
  switch: 'Request switches',
  path: 'Undocumented paths',
};

/** Formats proposals for the terminal, grouped by kind, with the confidence and evidence for each. */
function proposalLines(proposals: readonly Proposal[]): string[] {
  const kinds = Map.groupBy(proposals, ({ kind }) => kind);
  return [...kinds].flatMap(([kind, found]) => [[`${TITLES[kind]}:`], found.flatMap(linesOf), ['']].flat());
}

function linesOf(proposal: Proposal): string[] {
  const { kind, place, statement, confidence, actions } = proposal;
  const noChange =
    actions.length > 0
      ? ''
      : `; no change to the contract${kind === 'envelope' ? ': it has several variants of this response, so edit the right one manually' : ''}`;
  return [
    `  ${place}: ${statement}`,
    `      ${confidenceWord(confidence)} (${shownConfidence(confidence).toFixed(2)}): ${evidenceWords(proposal)}${noChange}`,
  ];
}

function evidenceWords({ evidence: { seen, of, answers, firstSeenAt, lastSeenAt } }: Proposal): string {
  const share = of === undefined || of === seen ? `${seen} seen` : `${seen} of ${of}`;
  const days = day(firstSeenAt) === day(lastSeenAt) ? day(lastSeenAt) : `${day(firstSeenAt)} to ${day(lastSeenAt)}`;
  return `${share} in ${answers} ${answers === 1 ? 'response' : 'responses'}, ${days}`;
}

const day = (at: number) => new Date(at).toISOString().slice(0, 10);
