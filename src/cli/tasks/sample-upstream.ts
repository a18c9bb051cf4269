import { readLearnDocument } from '../../learner/read-learn-document.ts';
import { walkToLearn } from '../../workbench/walk/learn-walk.ts';
import { type Settings, withUpstreamUrl } from '../../engine/config/settings.ts';
import { assembleGateway } from '../../engine/gateway.ts';
import { loadOperations } from '../../engine/contract/load-contract.ts';
import { createLearner } from '../../learner/create-learner.ts';
import type { Observations } from '../../learner/observations/observations.ts';
import { systemClock } from '../../lib/clock.ts';
import { toWalkSettings } from '../../workbench/walk/send-walk-request.ts';
import { CommandFailure, type CommandLine } from '../../lib/command.ts';
import type { ProgramIo } from '../program.ts';
import { readCredential } from '../flags/credentials.ts';
import { numberFlag } from '../../lib/flag-values.ts';
import { untilInterrupted } from '../terminal/signals.ts';
import { walkedParameters, walkIds } from '../flags/walk-flags.ts';
import { createWalkProgress, unseenLines, walkFailure } from '../terminal/walk-output.ts';

/**
 * Samples responses from a live server to learn about the parts that the contract leaves unspecified. Returns the
 * previous and the new observations combined.
 */
export async function sampleUpstream(
  url: string,
  line: CommandLine,
  io: ProgramIo,
  settings: Settings,
  before: Observations,
): Promise<Observations> {
  const maxRequests = numberFlag(line, 'max-requests', 300, [1, 100_000]);
  const delayMs = numberFlag(line, 'delay', 50, [0, 60_000]);
  const ids = walkIds(line.all('id'), walkedParameters(loadOperations(settings.contract)));
  const authorization = await readCredential(line, io);
  const walkSettings = toWalkSettings(withUpstreamUrl(settings, url), undefined);
  // The records of this gateway are never opened, so they stay in memory.
  const assembly = assembleGateway(walkSettings, { logStream: { write: () => undefined } });
  const learner = createLearner({
    known: settings.profile,
    document: readLearnDocument(settings),
    clock: systemClock,
    before,
    walk: true,
  });
  const progress = createWalkProgress(io, maxRequests);
  const interrupted = untilInterrupted();
  try {
    const { walked, further } = await walkToLearn(assembly, assembly.services.upstream, learner, {
      authorization,
      ids,
      maxRequests,
      delayMs,
      signal: interrupted.signal,
      probePageSize: line.last('probe-page-size') !== undefined,
      onProgress: progress.step,
    });
    progress.end();
    const failure = walkFailure(walked, line, settings.profile);
    if (failure !== undefined) throw new CommandFailure(failure);
    io.err(`${walked.requests + further} requests sent; the walk ended with: ${walked.ended}.`);
    unseenLines(walked).forEach(io.err);
    return learner.observations();
  } finally {
    interrupted.release();
    await assembly.close();
  }
}
