import { readLearnDocument } from '../assembly/learning.ts';
import { walkToLearn } from '../assembly/learn-walk.ts';
import { type Settings, withUpstreamUrl } from '../config/settings.ts';
import { assembleGateway } from '../gateway.ts';
import { createLearner } from '../learn/create-learner.ts';
import type { Observations } from '../learn/observations/observations.ts';
import { systemClock } from '../lib/clock.ts';
import { toWalkSettings } from '../walk/walk-settings.ts';
import { IN_MEMORY } from '../files/in-memory.ts';
import type { CommandIo } from './command-io.ts';
import type { CommandLine } from './command.ts';
import { numberFlag } from './number-flag.ts';
import { untilInterrupted } from './until-interrupted.ts';
import { walkCredential } from './walk-credential.ts';
import { createWalkProgress } from './walk-progress.ts';

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
        maxRequests,
        delayMs,
        signal: interrupted.signal,
        probePageSize: line.last('probe-page-size') !== undefined,
        onProgress: progress.step,
      },
    );
    progress.end();
    if (walked.ended === 'unreachable') throw new Error(`${url} does not answer: ${walked.failure ?? 'no reason'}`);
    io.err(`${walked.requests + further} requests, ended: ${walked.ended}.`);
    return learner.observations();
  } finally {
    interrupted.release();
    await assembly.close();
  }
}
