import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pino } from 'pino';
import { optionsOf } from '../../engine/config/configurable.ts';
import type { Settings } from '../../engine/config/settings.ts';
import { type Contract, loadContract } from '../../engine/contract/load-contract.ts';
import { featuresOf } from '../../engine/feature.ts';
import type { AcceptedViolations } from '../../engine/model/acceptance.ts';
import { type Fault, StartFault } from '../../engine/model/fault.ts';
import { createKindOf, type KindOf } from '../../engine/model/violation-kind.ts';
import { placeText, safePath } from '../../engine/privacy/path-text.ts';
import { createUpstream, type Upstream } from '../../engine/upstream/create-upstream.ts';
import { compilePermissionMessage } from '../../engine/upstream/failures/permission-message.ts';
import { parseUpstreamUrl, type UpstreamAddress } from '../../engine/upstream/upstream-url.ts';
import { DAY_MS, isDay, systemClock } from '../../lib/clock.ts';
import { type CommandLine, UsageError } from '../../lib/command.ts';
import { fileReason } from '../../lib/file-reason.ts';
import { choiceFlag, numberFlag } from '../../lib/flag-values.ts';
import { jsonDocument } from '../../lib/json-document.ts';
import { replaceFile } from '../../lib/replace-file.ts';
import { trimEndOf } from '../../lib/trim-end.ts';
import { createAskedServer } from '../../workbench/compare/ask-server.ts';
import { readCallers } from '../../workbench/compare/callers.ts';
import { type Comparator, compileComparator } from '../../comparison/comparator.ts';
import {
  type CompareSummary,
  compareLines,
  compareSection,
  coverageOf,
  endReason,
  gapsOf,
} from '../../workbench/compare/compare-lines.ts';
import type { Side } from '../../comparison/compare-values.ts';
import { zoneClock } from '../../comparison/dates.ts';
import { createIdentities, type Identities } from '../../comparison/identities.ts';
import { formatIds, isLearned, parseIds } from '../../comparison/ids-file.ts';
import { createNoise, formatNoise, type NoiseRule, parseNoise } from '../../comparison/noise.ts';
import {
  type CompareState,
  type CompareSubject,
  readCompareState,
  writeCompareState,
} from '../../workbench/compare/resume.ts';
import { type Caller, runComparison } from '../../workbench/compare/run-comparison.ts';
import { createCaptureSource } from '../../workbench/compare/sources/capture-source.ts';
import type { RequestSource } from '../../workbench/compare/sources/request-source.ts';
import { createWalkSource } from '../../workbench/compare/sources/walk-source.ts';
import { type CompareCounts, createTally, type FoundDifference, type Tally } from '../../workbench/compare/tally.ts';
import { failures } from '../../workbench/report/fail-on.ts';
import { REPORT_FORMATS } from '../../workbench/report/formats.ts';
import type { Report } from '../../workbench/report/report.ts';
import { countWords } from '../../lib/count-words.ts';
import { renderOptions, writeText } from '../command-output.ts';
import { settingsFrom } from '../flags/config-flags.ts';
import { readCredential } from '../flags/credentials.ts';
import { failRules, reportFailures } from '../flags/fail-flags.ts';
import { recordsAt, recordsInFile } from '../flags/kept-records.ts';
import { walkBounds, walkedParameters } from '../flags/walk-flags.ts';
import { pauseFor } from '../../lib/pause.ts';
import type { ProgramIo } from '../program.ts';
import { untilInterrupted } from '../terminal/signals.ts';
import { warningsTo } from '../terminal/warnings-to.ts';
import { openReports } from './open-reports.ts';
import { mainReason, openRecording, RECORDINGS } from './open-recording.ts';

/** How long a proposed rule lasts. */
const PROPOSED_DAYS = 90;

/** Compares two servers and reports what differs. Returns the exit code. */
export async function compareServers(line: CommandLine, io: ProgramIo): Promise<number> {
  const rules = failRules(line);
  const format = choiceFlag(line, 'format', [...REPORT_FORMATS.keys()]) ?? 'table';
  const acceptance = acceptanceOf(line);
  const addresses = { old: addressOf(line, 0), new: addressOf(line, 1) };
  const isSelf = urlOf(addresses.old) === urlOf(addresses.new);
  if (line.last('propose-noise') !== undefined && !isSelf)
    throw new UsageError('--propose-noise requires the same server twice: portico compare OLD OLD');
  const concurrency = numberFlag(line, 'concurrency', 1, [1, 32]);
  const askAgain = numberFlag(line, 'ask-again', 500, [0, 60_000]);
  const settings = await settingsFrom(line, io);
  // What cannot be accepted is said before a long comparison, not after it.
  if (acceptance !== undefined) baselineFile(line, io, settings);
  const contract = loadContract(settings.contract);
  const reports = openReports(line, io, settings, contract.operations);
  const bounds = walkBounds(line, walkedParameters(contract.operations), 500);
  const callers = await callersOf(line, io, addresses, isSelf);
  const now = systemClock();
  const noise = createNoise(readNoise(line, io, contract), now);
  const subject = subjectOf(line, addresses, contract, callers);
  const resumeFile = line.last('resume') === undefined ? undefined : resolve(io.cwd, line.last('resume') ?? '');
  const saved = resumeFile === undefined ? undefined : savedState(resumeFile, subject);
  const ids = identitiesOf(line, io);
  const sides = { old: sideOf(line, 'old', addresses.old), new: sideOf(line, 'new', addresses.new) };
  const comparator = compileComparator({
    contract,
    failures: {
      isPermissionMessage: compilePermissionMessage(settings.upstream.permissionMessages),
      jsonLimits: { depth: settings.upstream.maxJsonDepth, values: settings.upstream.maxJsonValues },
    },
    ids,
    noise,
    ...sides,
  });
  if (saved !== undefined) fromState(resumeFile ?? '', () => comparator.restore(saved.comparison));
  const kindOf = createKindOf();
  const records = ledgerOf(line, io, settings, { kindOf, operations: contract.operations });
  const tallyParts = {
    clock: systemClock,
    kindOf,
    release: settings.release,
    structureOf: (target: string) => structureOf(target, settings),
    record: records?.record,
  };
  const tally = fromState(resumeFile ?? '', () => createTally(tallyParts, saved?.tally));
  const source = await sourceOf(line, io, { settings, contract, bounds, saved, oldServer: sides.old });
  const upstreams = [addresses.old, addresses.new].map((address) => upstreamTo(address, settings, bounds.timeoutMs));
  const [oldServer, newServer] = upstreams.map((upstream) =>
    createAskedServer({ upstream, delayMs: bounds.delayMs, clock: systemClock, pause: pauseFor }),
  );
  if (oldServer === undefined || newServer === undefined) throw new Error('a comparison needs two servers');
  const interrupted = untilInterrupted();
  const save = (unfinished: readonly string[]) => {
    if (resumeFile === undefined) return;
    writeCompareState(resumeFile, {
      subject,
      position: source.position(),
      unfinished,
      tally: tally.save(),
      comparison: comparator.save(),
    });
  };
  const unsaved = resumeErrors(line.last('resume') ?? '', io);
  // A file that cannot be written must not be found after an hour.
  unsaved.atStart(() => save(saved?.unfinished ?? []));
  const progress = createProgress(io, source, tally);
  io.err(
    `Comparing ${urlOf(addresses.new)} with ${urlOf(addresses.old)}: ${callers.map(({ name }) => name).join(', ')}.`,
  );
  try {
    await records?.open();
    const run = await runComparison({
      contract,
      comparator,
      ids,
      tally,
      source,
      callers,
      pause: pauseFor,
      old: oldServer,
      new: newServer,
      concurrency,
      askAgainAfterMs: askAgain === 0 ? undefined : askAgain,
      isSelf,
      undocumented: line.has('undocumented'),
      signal: interrupted.signal,
      onProgress: progress.step,
      unfinished: saved?.unfinished,
      onCheckpoint: (unfinished) => unsaved.later(() => save(unfinished)),
    });
    progress.end();
    const coverage = coverageOf(comparator);
    const summary: CompareSummary = {
      old: urlOf(addresses.old),
      new: urlOf(addresses.new),
      run,
      counts: tally.counts(),
      differences: tally.differences(),
      undecided: comparator.undecided(),
      callers: callers.map(({ name }) => name),
      noise: { unused: noise.unused(), expired: noise.expired },
      idPairs: ids.mode === 'same' ? undefined : ids.size,
      coverage,
      gaps: gapsOf(
        coverage,
        contract.operations,
        source.notWalked?.() ?? [],
        callers.flatMap((one) => (one.old === undefined ? [] : [one.name])),
      ),
    };
    await writeFiles(line, io, { ids, differences: summary.differences, now });
    await acceptRepairs(line, io, settings, acceptance, summary.differences);
    const scope = { since: undefined, operation: undefined, release: undefined };
    const current = acceptance === undefined ? reports : openReports(line, io, settings, contract.operations);
    const report = current.of(tally.snapshot(), scope);
    const failed = [...ownFailures(summary, source.failure()), ...failures(report, rules)];
    writeReport(line, io, { format, summary, report, failed, comparator });
    return reportFailures(failed, io);
  } finally {
    interrupted.release();
    await records?.close();
    await source.close();
    await Promise.all(upstreams.map((upstream) => upstream.close(0)));
  }
}

function addressOf({ args }: CommandLine, at: 0 | 1): UpstreamAddress {
  const place = { source: at === 0 ? 'OLD' : 'NEW', pointer: '' };
  const parsed = parseUpstreamUrl(args[at] ?? '', place);
  if ('faults' in parsed) throw new StartFault(parsed.faults);
  return parsed.address;
}

const urlOf = ({ origin, basePath }: UpstreamAddress) => origin + basePath;

function sideOf(line: CommandLine, name: 'old' | 'new', address: UpstreamAddress): Side {
  const others = line.all(`${name}-address`).map((text) => {
    if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
      throw new UsageError(`--${name}-address ${text}: must be an http or https URL`);
    return trimEndOf(text, '/');
  });
  const zone = line.last(`${name}-zone`) ?? 'UTC';
  try {
    const clock = zoneClock(zone);
    const own = [...new Set([urlOf(address), address.origin, ...others])].toSorted((a, b) => b.length - a.length);
    return { own, basePath: address.basePath, clock, zone };
  } catch {
    throw new UsageError(`--${name}-zone ${zone}: must be a time zone such as UTC, Europe/Berlin or +01:00`);
  }
}

/** Returns the ledger to which differences are added, if one is named. */
function ledgerOf(
  line: CommandLine,
  io: ProgramIo,
  settings: Settings,
  { kindOf, operations }: { readonly kindOf: KindOf; readonly operations: Contract['operations'] },
): ReturnType<typeof recordsInFile> | undefined {
  const file = line.last('ledger');
  if (file === undefined) return undefined;
  return recordsInFile(settings, resolve(io.cwd, file), {
    kindOf,
    clock: systemClock,
    release: settings.release,
    operations: operations.map(({ id }) => id),
    logger: pino({ level: 'warn' }, warningsTo(io)),
  });
}

/** Creates the client of one server, which does not report its failures to anybody. */
function upstreamTo(address: UpstreamAddress, { upstream }: Settings, timeoutMs: number | undefined): Upstream {
  const timeouts = timeoutMs !== undefined && {
    connectTimeoutMs: Math.min(timeoutMs, upstream.connectTimeoutMs),
    headersTimeoutMs: timeoutMs,
    bodyTimeoutMs: timeoutMs,
    totalTimeoutMs: timeoutMs,
  };
  return createUpstream(address, { ...upstream, url: urlOf(address), alternates: [], ...timeouts }, systemClock);
}

async function callersOf(
  line: CommandLine,
  io: ProgramIo,
  { old, new: next }: { readonly old: UpstreamAddress; readonly new: UpstreamAddress },
  isSelf: boolean,
): Promise<readonly Caller[]> {
  const [file, user, host] = [line.last('callers'), line.last('user'), line.last('credential-host')];
  if (file !== undefined && user !== undefined) throw new UsageError('--callers cannot be combined with --user');
  const side = choiceFlag(line, 'accounts', ['old', 'new']);
  if (side !== undefined && (file === undefined || !isSelf))
    throw new UsageError('--accounts requires --callers, and the same server twice: portico compare OLD OLD');
  if (file !== undefined) {
    const callers = readCallers(readInput(file, '--callers', io), file, {
      env: io.env,
      file: (path) => resolve(io.cwd, dirname(file), path),
    });
    if (!isSelf) return callers;
    if (side !== undefined) return callers.map((one) => ({ name: one.name, old: one[side], new: one[side] }));
    const other = callers.find((one) => one.old !== one.new);
    // Otherwise, the server would get the password of the other one.
    if (other !== undefined)
      throw new UsageError(
        `${other.name} has two accounts in ${file}: add --accounts old or --accounts new, whichever server this is`,
      );
    return callers;
  }
  if (user === undefined) return [{ name: 'anonymous', old: undefined, new: undefined }];
  const isNamed = host === new URL(next.origin).host || host === new URL(next.origin).hostname;
  // A credential must not reach a host only because a URL was mistyped.
  if (!isSelf && old.origin !== next.origin && !isNamed)
    throw new UsageError(
      `--user is an account of OLD: to send its password to NEW, too, add --credential-host ${new URL(next.origin).host}, or use --callers`,
    );
  const authorization = await readCredential(line, io);
  return [{ name: user, old: authorization, new: authorization }];
}

function readInput(file: string, flag: string, { cwd }: Pick<ProgramIo, 'cwd'>): string {
  try {
    return readFileSync(resolve(cwd, file), 'utf8');
  } catch (error) {
    const message = `${file} cannot be read: ${fileReason(error)}`;
    throw new StartFault([{ source: flag, pointer: '', message, suggestion: 'name a file that you may read' }]);
  }
}

function readNoise(line: CommandLine, io: ProgramIo, { operations }: Contract): readonly NoiseRule[] {
  const file = line.last('noise');
  if (file === undefined) return [];
  const known = operations.map(({ id }) => id);
  const { rules, faults } = parseNoise(readInput(file, '--noise', io), file, known);
  if (faults.length > 0) throw new StartFault(faults);
  return rules;
}

function identitiesOf(line: CommandLine, io: ProgramIo): Identities {
  const source = line.last('ids') ?? 'same';
  if (source === 'same') {
    if (line.last('save-ids') !== undefined) throw new UsageError('--save-ids requires --ids learn');
    return createIdentities('same');
  }
  if (source === 'learn') return createIdentities('learned');
  const text = readInput(source, '--ids', io);
  const pairs = parseIds(text, source);
  return createIdentities(isLearned(text) ? 'learned' : 'given', pairs);
}

/** Returns what a state file belongs to. Everything that changes what is sent, or how it is compared, is part of it. */
function subjectOf(
  line: CommandLine,
  { old, new: next }: { readonly old: UpstreamAddress; readonly new: UpstreamAddress },
  { version }: Contract,
  callers: readonly Caller[],
): CompareSubject {
  const from = line.last('from');
  const flags = ['repeat', 'undocumented', 'ids', 'noise', 'old-address', 'new-address', 'old-zone', 'new-zone'];
  return {
    OLD: urlOf(old),
    NEW: urlOf(next),
    contract: version,
    // A recording can have been moved. Its requests show whether it is the same.
    '--from': from === undefined || from === 'ledger' ? (from ?? 'walk') : 'recording',
    ...Object.fromEntries(flags.map((name) => [`--${name}`, line.all(name).join(' ')])),
    callers: callers.map(({ name }) => name).join(', '),
  };
}

function savedState(file: string, subject: CompareSubject): CompareState | undefined {
  try {
    return readCompareState(file, subject);
  } catch (error) {
    throw stateFault(file, error instanceof Error ? error.message : '');
  }
}

/** Continues with what a state contains, of which only the outermost form has been checked. */
function fromState<Result>(file: string, restore: () => Result): Result {
  try {
    return restore();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw stateFault(file, 'it is damaged: delete it');
  }
}

const stateFault = (file: string, because: string) =>
  new StartFault([{ source: '--resume', pointer: '', message: `${file} cannot be used: ${because}` }]);

interface SourceParts {
  readonly settings: Settings;
  readonly contract: Contract;
  readonly bounds: ReturnType<typeof walkBounds>;
  readonly saved: CompareState | undefined;
  readonly oldServer: Side;
}

async function sourceOf(
  line: CommandLine,
  io: ProgramIo,
  { settings, contract, bounds, saved, oldServer }: SourceParts,
): Promise<RequestSource & { readonly failure: () => string | undefined }> {
  const from = line.last('from');
  const allPages = line.has('all-pages');
  const walkOf = (more: { readonly operations: Contract['operations']; readonly targets?: readonly string[] }) =>
    Object.assign(
      createWalkSource({ ...bounds, exploration: settings.profile.exploration, allPages, ...more }, saved?.position),
      { failure: () => undefined },
    );
  if (from === undefined) return walkOf({ operations: contract.operations });
  if (from === 'ledger') return walkOf(await observedIn(settings, contract));
  const { entries, failure } = openRecording(from, io, settings.profile.basePath, RECORDINGS);
  const own = {
    hosts: oldServer.own.map((address) => new URL(address).host),
    isDocumented: (target: string) => contract.match(target.split('?', 1)[0] ?? '') !== undefined,
  };
  const sends = { repeats: line.has('repeat'), own: line.has('undocumented') ? own : undefined };
  return { ...(await createCaptureSource({ entries, ...sends }, saved?.position)), failure };
}

/** Saves the state. At the start, a file that cannot be written is an error; later, it is only reported, and once. */
function resumeErrors(name: string, { err }: Pick<ProgramIo, 'err'>) {
  let isReported = false;
  const attempt = (save: () => void): string | undefined => {
    try {
      save();
      return undefined;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error;
      return `${name} cannot be written: ${fileReason(error)}`;
    }
  };
  return {
    atStart(save: () => void): void {
      const message = attempt(save);
      if (message !== undefined) throw new StartFault([{ source: '--resume', pointer: '', message }]);
    },
    later(save: () => void): void {
      const message = attempt(save);
      if (message !== undefined && !isReported) err(`Cannot be continued from here: ${message}`);
      isReported = message !== undefined;
    },
  };
}

/** Returns the operations that the ledger has seen, and the undocumented paths that it knows completely. */
async function observedIn(settings: Settings, { operations }: Contract) {
  const records = recordsAt(settings);
  const snapshot = await records.read({});
  const seen = new Set(snapshot?.traffic.filter(({ requests }) => requests > 0).map(({ operation }) => operation));
  const targets = (snapshot?.entries ?? []).flatMap(({ check, at }) => {
    const [, path] = /^GET (\/[^*?{}]*)$/.exec(check === 'undocumented' ? at : '') ?? [];
    return path === undefined ? [] : [path];
  });
  const found = { operations: operations.filter(({ id }) => seen.has(id)), targets };
  if (found.operations.length === 0 && targets.length === 0)
    throw new UsageError(`--from ledger: ${records.name} has no traffic yet`);
  return found;
}

/** Returns a target with only what the contract says: words, and the names of parameters. */
function structureOf(target: string, { profile }: Settings): string {
  const [path = '', query] = target.split('?', 2);
  const names = (query ?? '')
    .split('&')
    .map((one) => one.split('=', 1)[0] ?? '')
    .filter((name) => /^[A-Za-z]\w{0,30}$/.test(name));
  const shown = safePath(path, profile.pathWords);
  return names.length === 0 ? shown : `${shown}?${names.map((name) => `${name}=…`).join('&')}`;
}

const REQUESTS_PER_LINE = 100;

/** Shows how many requests are done, and how many are known to follow. Nothing is said of an end that is not known. */
function createProgress({ live, err }: ProgramIo, source: RequestSource, tally: Tally) {
  let requests = 0;
  return {
    step: (operation: string) => {
      requests += 1;
      const left = source.left();
      const { different } = tally.counts();
      const words = `${countWords(requests, 'request')}${left === undefined ? '' : `, at least ${left} more`}; ${different} different  ${operation}`;
      if (live !== undefined) live(words);
      else if (requests % REQUESTS_PER_LINE === 0) err(words);
    },
    end: () => live?.(''),
  };
}

/** Returns why a comparison has failed apart from the rules: a leak, or nothing that was compared. */
function ownFailures({ differences, counts, run }: CompareSummary, unread: string | undefined): readonly string[] {
  const leaks = differences.filter(({ isLeak }) => isLeak).length;
  const compared = counts.equal + counts.different + counts.muted;
  return [
    ...(leaks === 0 ? [] : [`${countWords(leaks, 'leak')}: the new server shows what the old one hides`]),
    ...(compared === 0 ? [nothingCompared(counts)] : counts.served === 0 ? [nothingServed(counts)] : []),
    ...(unread === undefined ? [] : [`${unread}; what follows was not compared`]),
    ...(run.ended === 'complete' ? [] : [endReason(run.ended)]),
  ];
}

/** Says why nothing was compared, and what to do about it. */
function nothingCompared({ exchanges, notMadeBecause, notComparableBecause }: CompareCounts): string {
  if (exchanges === 0) return 'nothing was compared: there were no requests to send';
  const reasons = [notMadeBecause, notComparableBecause].flatMap((counts) => Object.entries(counts));
  return `nothing was compared: ${mainReason(reasons, FIXES)}`;
}

/** Says what the old server sent instead of what was requested. Two servers that refuse everything are always equal. */
const nothingServed = ({ notServed }: CompareCounts) =>
  `the old server never sent what was requested: ${mainReason(Object.entries(notServed), REFUSAL_FIXES)}`;

const ACCOUNT = 'check the path in OLD, and add --user or --callers with an account that may read something';
const REFUSAL_FIXES: Readonly<Record<string, string>> = {
  'status 401': ACCOUNT,
  'status 403': ACCOUNT,
  'status 404': 'check the path in OLD',
  'no JSON': 'check the path in OLD',
};

const FIXES: Readonly<Record<string, string>> = {
  'not readable': RECORDINGS,
  'not a GET request': 'name a recording with GET requests',
  'not in the contract': 'name a recording of the API, or add --undocumented',
  'for another host': 'name the host of the recording in --old-address',
  'id without a counterpart': 'compare without --from first, with --save-ids, and name that file in --ids',
};

interface Acceptance {
  readonly owner: string;
  readonly reason: string;
  readonly expires: string | undefined;
}

function acceptanceOf(line: CommandLine): Acceptance | undefined {
  const [owner, reason, expires] = [line.last('owner'), line.last('reason'), line.last('expires')];
  if (!line.has('accept-repairs')) {
    const used = ['owner', 'reason', 'expires'].find((flag) => line.last(flag) !== undefined);
    if (used !== undefined) throw new UsageError(`--${used} requires --accept-repairs`);
    return undefined;
  }
  if (owner === undefined || owner.trim() === '') throw new UsageError('--accept-repairs requires --owner NAME');
  if (expires !== undefined && !isDay(expires))
    throw new UsageError(`--expires ${expires}: must be a day such as 2026-12-31`);
  return { owner, reason: reason ?? 'NEW conforms to the contract', expires };
}

/** Accepts the differences in which only the old server violates the contract. */
async function acceptRepairs(
  line: CommandLine,
  io: ProgramIo,
  settings: Settings,
  acceptance: Acceptance | undefined,
  differences: readonly FoundDifference[],
): Promise<void> {
  if (acceptance === undefined) return;
  const file = baselineFile(line, io, settings);
  const repairs = differences.filter(({ isRepair, isLeak }) => isRepair && !isLeak);
  for (const { entry } of repairs)
    await file.accept({
      fingerprint: entry.fingerprint,
      ...acceptance,
      summary: `${entry.operation ?? '(undocumented)'} ${entry.at}: ${entry.message}`,
    });
  io.err(`Accepted ${countWords(repairs.length, 'repair')} in ${file.file}`);
}

function baselineFile(line: CommandLine, io: ProgramIo, settings: Settings): AcceptedViolations {
  const named = line.last('baseline');
  for (const feature of featuresOf(settings)) {
    if (feature.acceptance === undefined) continue;
    const options = named === undefined ? optionsOf(settings, feature) : resolve(io.cwd, named);
    if (options !== undefined) return feature.acceptance.open(options, settings);
  }
  throw new UsageError('--accept-repairs requires --baseline FILE or contract.baseline');
}

async function writeFiles(
  line: CommandLine,
  io: ProgramIo,
  { ids, differences, now }: { ids: Identities; differences: readonly FoundDifference[]; now: number },
): Promise<void> {
  const write = async (flag: string, text: () => string) => {
    const file = line.last(flag);
    if (file === undefined) return;
    try {
      await replaceFile(resolve(io.cwd, file), text(), 0o644);
    } catch (error) {
      const message = `${file} cannot be written: ${fileReason(error)}`;
      const fault: Fault = { source: `--${flag}`, pointer: '', message };
      throw new StartFault([fault]);
    }
    io.err(`Written to ${file}`);
  };
  await write('save-ids', () => formatIds(ids.pairs()));
  const until = new Date(now + PROPOSED_DAYS * DAY_MS).toISOString().slice(0, 10);
  await write('propose-noise', () => formatNoise(proposals(differences, until)));
}

/** Returns a rule for each value that differed between two calls of one server. Other differences cannot be noise. */
function proposals(differences: readonly FoundDifference[], until: string): readonly NoiseRule[] {
  const places = new Map<string, NoiseRule>();
  for (const { entry } of differences) {
    const { operation, at, keyword, count } = entry;
    if (keyword !== 'compare-value' || operation === undefined) continue;
    const reason = `differed ${countWords(count, 'time')} between two calls of one server`;
    places.set(`${operation} ${at}`, { operation, at, reason, owner: 'name the owner', until });
  }
  return [...places.values()];
}

interface Written {
  readonly format: string;
  readonly summary: CompareSummary;
  readonly report: Report;
  readonly failed: readonly string[];
  readonly comparator: Pick<Comparator, 'places'>;
}

function writeReport(line: CommandLine, io: ProgramIo, { format, summary, report, failed, comparator }: Written): void {
  // Without a ledger, there is nothing that a later command could show in detail.
  const options = { ...renderOptions(line, io), ...(line.last('ledger') === undefined && { ledger: null }) };
  const isForPeople = format === 'markdown' || format === 'html';
  const shown = isForPeople ? { ...report, sections: [compareSection(summary), ...report.sections] } : report;
  const rendered = REPORT_FORMATS.get(format)?.report(shown, options) ?? '';
  const lines = compareLines(summary);
  if (format === 'table') return writeText([...lines, rendered].join('\n'), line, io);
  if (format === 'json') return writeText(compareJson(summary, rendered, failed, comparator), line, io);
  // JUnit and SARIF know only violations, so the counts go to the terminal, too.
  lines.forEach(io.err);
  writeText(rendered, line, io);
}

function compareJson(
  { run, counts, differences, undecided, noise, callers, idPairs, gaps, ...servers }: CompareSummary,
  rendered: string,
  failed: readonly string[],
  comparator: Pick<Comparator, 'places'>,
): string {
  const places = Array.from(comparator.places(), ({ scope, location, at, compared, different, muted }) => ({
    operation: scope.operation ?? null,
    // The names of fields that the contract does not know come from the servers.
    role: scope.role,
    status: scope.status,
    location,
    at: placeText(at),
    compared,
    different,
    muted,
  }));
  return jsonDocument('compare', {
    ok: failed.length === 0,
    failures: failed,
    old: servers.old,
    new: servers.new,
    ended: run.ended,
    left: run.left ?? null,
    callers,
    counts,
    undecided,
    ...gaps,
    idPairs: idPairs ?? null,
    noise,
    differences: differences.map(({ entry, ...rest }) => ({
      fingerprint: entry.fingerprint,
      kind: entry.keyword,
      ...rest,
    })),
    places,
    report: JSON.parse(rendered) as unknown,
  });
}
