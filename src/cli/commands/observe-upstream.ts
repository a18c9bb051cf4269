import { readLearnDocument } from '../../assembly/learning.ts';
import { walkToLearn } from '../../assembly/learn-walk.ts';
import { type Settings, withUpstreamUrl } from '../../config/settings.ts';
import { assembleGateway } from '../../gateway.ts';
import { loadContract } from '../../contract/load-contract.ts';
import { createLearner } from '../../learn/create-learner.ts';
import type { Observations } from '../../learn/observations/observations.ts';
import { systemClock } from '../../lib/clock.ts';
import { toWalkSettings } from '../../walk/walked-gateway.ts';
import { IN_MEMORY } from '../../files/replace-file.ts';
import type { CommandIo } from '../command.ts';
import { CommandFailure, type CommandLine } from '../command.ts';
import { numberFlag } from '../flag-values.ts';
import { untilInterrupted } from '../terminal/signals.ts';
import { walkCredential } from './walk-flags.ts';
import { walkFailure } from '../terminal/walk-lines.ts';
import { walkedParameters, walkIds } from './walk-flags.ts';
import { unseenLines } from '../terminal/walk-lines.ts';
import { createWalkProgress } from '../terminal/walk-lines.ts';

/** Asks a live server for what the contract leaves open; what was observed, on top of what was observed before. */
export async function observeUpstream(
  url: string,
  line: CommandLine,
  io: CommandIo,
  settings: Settings,
  before: Observations,
): Promise<Observations> {
  const maxRequests = numberFlag(line, 'max-requests', 300, [1, 100_000]);
  const delayMs = numberFlag(line, 'delay', 50, [0, 60_000]);
  const given = walkIds(line.all('id'), walkedParameters(loadContract(settings.contract).operations));
  const authorization = await walkCredential(line, io);
  const quiet = toWalkSettings(withUpstreamUrl(settings, url), undefined);
  const assembly = assembleGateway(
    { ...quiet, ledger: { ...quiet.ledger, file: IN_MEMORY } },
    { logStream: { write: () => undefined } },
  );
  const learner = createLearner({ document: readLearnDocument(settings), clock: systemClock, before, walk: true });
  const progress = createWalkProgress(io, maxRequests);
  const interrupted = untilInterrupted();
  try {
    const { walked, further } = await walkToLearn(
      { house: assembly.house, upstream: assembly.services.upstream },
      learner,
      {
        authorization,
        ids: given,
        maxRequests,
        delayMs,
        signal: interrupted.signal,
        probePageSize: line.last('probe-page-size') !== undefined,
        onProgress: progress.step,
      },
    );
    progress.end();
    const failed = walkFailure(walked, line);
    if (failed !== undefined) throw new CommandFailure(failed);
    io.err(`${walked.requests + further} requests, ended: ${walked.ended}.`);
    unseenLines(walked).forEach(io.err);
    return learner.observations();
  } finally {
    interrupted.release();
    await assembly.close();
  }
}
