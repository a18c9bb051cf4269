import { accessSync, constants, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { trimEndOf } from '../../lib/trim-end.ts';
import { type Examination, examine, type ExamineOptions, maxRequests, PROBES } from '../../workbench/doctor/examine.ts';
import { CannotProbe, ProbingEnded } from '../../workbench/doctor/probe-client.ts';
import { recommendedConfiguration } from '../../workbench/doctor/recommend.ts';
import { fileReason } from '../../lib/file-reason.ts';
import { severityCounts } from '../../engine/model/severity.ts';
import { plainText } from '../../lib/plain-text.ts';
import { parseUpstreamUrl, type UpstreamAddress } from '../../engine/upstream/upstream-url.ts';
import { CommandFailure, type CommandLine, EXIT, UsageError } from '../../lib/command.ts';
import type { ProgramCommand, ProgramIo } from '../program.ts';
import { FORMAT_FLAG, wantsJson } from '../command-output.ts';
import { jsonDocument } from '../../lib/json-document.ts';
import { PASSWORD_FILE_FLAG, readCredential, USER_FLAG } from '../flags/credentials.ts';
import { numberFlag } from '../../lib/flag-values.ts';
import { DELAY_FLAG } from '../flags/walk-flags.ts';
import { untilInterrupted } from '../terminal/signals.ts';

/** The `portico doctor` command examines a live server and recommends a configuration for it. */
export const doctorCommand: ProgramCommand = {
  name: 'doctor',
  summary: 'Examine a live server with safe requests, and recommend a configuration',
  args: 'URL',
  argCount: [1, 1],
  flags: [
    USER_FLAG,
    PASSWORD_FILE_FLAG,
    { name: 'concurrency-max', value: 'NUMBER', help: 'Maximum number of concurrent requests; 16 by default.' },
    { name: 'idle', value: 'SECONDS', help: 'How long to watch an idle connection; 10 seconds by default.' },
    { name: 'timeout', value: 'SECONDS', help: 'Timeout for each request; 10 seconds by default.' },
    DELAY_FLAG,
    { name: 'output', value: 'FILE', help: 'Write the recommended configuration to a new file.' },
    { name: 'yes', help: 'Do not ask before the examination starts.' },
    FORMAT_FLAG,
  ],
  notes: [
    'The command shows its plan and asks before it sends anything. It sends only GET and HEAD requests, never follows a',
    'redirect, and sends the credential only to the API that it found. Progress goes to standard error.',
    '',
    'Example: PORTICO_PASSWORD=… portico doctor https://qa.example.org/qa --user checker --yes --output portico.yaml',
    '',
    'portico check --against compares responses with the contract; portico doctor examines everything else.',
    'The exit code is 1 if the server does not respond, has no API or refuses the password; findings do not change it.',
  ],
  run: async (line, io) => {
    const [url = ''] = line.args;
    const address = addressOf(url);
    const json = wantsJson(line);
    const bounds = {
      maxConcurrency: numberFlag(line, 'concurrency-max', 16, [1, 128]),
      idleMs: numberFlag(line, 'idle', 10, [1, 120]) * 1000,
      timeoutMs: numberFlag(line, 'timeout', 10, [1, 120]) * 1000,
      delayMs: numberFlag(line, 'delay', 50, [0, 10_000]),
    };
    const output = line.last('output');
    requireNewFile(output, io);
    planLines(url, { ...bounds, profile: io.product.profile }).forEach(io.err);
    await confirm(line, io);
    const authorization = await readCredential(line, io);
    const interrupted = untilInterrupted();
    const onStep = (name: string) => (io.live === undefined ? io.err(`… ${name}`) : io.live(`… ${name}`));
    try {
      const options = { ...bounds, profile: io.product.profile, authorization, onStep, signal: interrupted.signal };
      const examination = await run(address, options, url).finally(() => io.live?.(''));
      if (json) io.out(doctorJson(examination));
      else doctorLines(examination).forEach(io.out);
      write(output, recommendedConfiguration(examination), io);
      return interrupted.signal.aborted ? EXIT.failed : EXIT.ok;
    } finally {
      interrupted.release();
    }
  },
};

function addressOf(url: string): UpstreamAddress {
  const parsed = parseUpstreamUrl(url, { source: url, pointer: '' });
  if ('address' in parsed) return parsed.address;
  // The URL itself is not repeated, because it may contain a password.
  throw new UsageError(`the URL ${parsed.faults.map(({ message }) => message).join(' and ')}`);
}

async function run(address: UpstreamAddress, options: ExamineOptions, url: string) {
  try {
    return await examine(address, options);
  } catch (error) {
    if (error instanceof CannotProbe || error instanceof ProbingEnded)
      throw new CommandFailure(`${url} cannot be examined: ${error.message}`);
    throw error;
  }
}

async function confirm(line: CommandLine, io: ProgramIo): Promise<void> {
  if (line.last('yes') !== undefined) return;
  if (io.stdin.isTTY !== true) throw new UsageError('add --yes to start without a question');
  const editor = createInterface({ input: io.stdin, output: process.stderr });
  try {
    if (!/^y(?:es)?$/i.test((await editor.question('Start? [y/N] ')).trim())) throw new CommandFailure('not started');
  } finally {
    editor.close();
  }
}

/** Checks that the output can be written before any request is sent. Throws a CommandFailure if it cannot. */
function requireNewFile(file: string | undefined, { cwd }: ProgramIo): void {
  if (file === undefined) return;
  const path = resolve(cwd, file);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory() === true) throw new CommandFailure(`${file} is a folder: add the name of a file`);
  if (stats !== undefined) throw new CommandFailure(`${file} already exists: choose another name`);
  const folder = dirname(path);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new CommandFailure(`${file} cannot be written: there is no folder ${folder}`);
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch {
    throw new CommandFailure(`${file} cannot be written: you may not write to the folder ${folder}`);
  }
}

function write(file: string | undefined, text: string, { cwd, err }: ProgramIo): void {
  if (file === undefined) return;
  try {
    writeFileSync(resolve(cwd, file), text, { flag: 'wx' });
    err(`Wrote ${file}. Next: portico check --config ${file}`);
  } catch (error) {
    throw new CommandFailure(`${file} cannot be written: ${fileReason(error)}`);
  }
}

/** Describes the steps of a doctor run before it starts. */
function planLines(
  url: string,
  { maxConcurrency, delayMs, profile }: Pick<ExamineOptions, 'maxConcurrency' | 'delayMs' | 'profile'>,
): readonly string[] {
  const width = Math.max(...PROBES.map(({ name }) => name.length));
  return [
    `Plan for ${url}: at most ${maxRequests({ maxConcurrency, profile })} requests, all of them GET or HEAD, ${delayMs} ms apart`,
    `except for the last probe. Nothing is changed on the server. Ctrl+C ends the examination.`,
    `  ${'address'.padEnd(width)}  searches for ${trimEndOf(profile.basePath, '/')}, and reads each list once`,
    `  ${'certificate'.padEnd(width)}  performs a TLS handshake, if the URL is https`,
    ...PROBES.map(({ name, does }) => `  ${name.padEnd(width)}  ${does}`),
  ];
}

/** Formats the result of `portico doctor`, with the recommended configuration at the end. */
function doctorLines(examination: Examination): readonly string[] {
  const { url, requests, steps, findings } = examination;
  return [
    `${url}: ${requests} requests`,
    '',
    ...steps.flatMap(stepLines),
    '',
    `Findings: ${severityCounts(findings)}`,
    ...findings.flatMap(({ severity, text, advice }) => [
      `  ${severity.toUpperCase()}  ${plainText(text)}`,
      `    ${plainText(advice)}`,
    ]),
    '',
    ...recommendedConfiguration(examination).trimEnd().split('\n'),
  ];
}

function stepLines({ name, facts, notDone }: Examination['steps'][number]): readonly string[] {
  const texts = notDone === undefined ? facts : [...facts, `not done: ${notDone}`];
  return texts.map((text) => `  ${name}: ${plainText(text)}`);
}

function doctorJson(examination: Examination): string {
  const { url, requests, findings, recommendations } = examination;
  const steps = examination.steps.map(({ name, facts, notDone = null }) => ({ name, facts, notDone }));
  const configuration = recommendedConfiguration(examination);
  return jsonDocument('doctor', { url, requests, steps, findings, recommendations, configuration });
}
