import type { Case } from './cases.ts';
import { type Effort, roundsPerVisit, warmUpSeconds } from './effort.ts';
import type { Round } from './load.ts';
import { withNeighbor } from './neighbor.ts';
import type { Progress } from './progress.ts';
import { type Server, type Setting, withServer } from './server.ts';
import { WINDOW_REQUESTS, type Window } from './warm-up.ts';

/** What a new process of a case did: its warm-up, its rounds, and rounds while another program kept the core busy. */
export interface Visit {
  readonly id: string;
  readonly turn: number;
  readonly warmUp: readonly Window[];
  readonly quiet: readonly Round[];
  readonly busy: readonly Round[];
  /** The resident memory after the quiet rounds, in bytes. */
  readonly rssBytes: number;
}

/** A case that could not be measured, and why. */
export interface Failure {
  readonly part: string;
  readonly message: string;
}

/** The visits of a run. */
export interface Visits {
  readonly visits: readonly Visit[];
  readonly failures: readonly Failure[];
}

/**
 * Visits the cases in turns, so that changes in the machine's speed affect all of them. Only one server is alive at a
 * time. Every second turn is in reverse order.
 */
export async function visitInTurns(
  cases: readonly Case[],
  effort: Effort,
  setting: Setting & { readonly progress: Progress },
): Promise<Visits> {
  const visits: Visit[] = [];
  const failures: Failure[] = [];
  for (let turn = 0; turn < effort.maxTurns; turn += 1) {
    const due = cases.filter(({ turns }) => turn < turns);
    for (const one of turn % 2 === 0 ? due : due.toReversed()) {
      setting.progress.say(`turn ${turn + 1}: ${one.id} (${one.peer.label}, ${one.does})`);
      try {
        visits.push(await withServer(one, setting, (server) => visit(one, turn, effort, server)));
      } catch (error) {
        // The other cases are still measured.
        const { message } = error as Error;
        setting.progress.say(`FAILED: ${message}`);
        failures.push({ part: one.id, message });
      }
    }
  }
  return { visits, failures };
}

async function visit(one: Case, turn: number, effort: Effort, server: Server): Promise<Visit> {
  const rounds = async () => {
    const all: Round[] = [];
    for (let at = 0; at < roundsPerVisit(one, effort); at += 1) all.push(await server.load(effort.roundSeconds));
    return all;
  };
  const warmed = await warmUp(server, warmUpSeconds(one, effort), effort.warmUpRequests);
  const quiet = await rounds();
  const rssBytes = server.running.rssBytes();
  return { id: one.id, turn, warmUp: warmed, quiet, rssBytes, busy: await withNeighbor(rounds) };
}

/** Warms up a server. Returns the CPU time of each window. */
export async function warmUp({ load, running }: Server, seconds: number, requests: number): Promise<readonly Window[]> {
  const windows: Window[] = [];
  let before = { sent: 0, cpuNs: running.cpuNs() };
  await load(seconds, {
    every: WINDOW_REQUESTS,
    sent: (sent) => {
      const now = { sent, cpuNs: running.cpuNs() };
      windows.push({ sent, cpuUs: (now.cpuNs - before.cpuNs) / 1000 / (now.sent - before.sent) });
      before = now;
      running.emptyLog();
      return sent < requests;
    },
  });
  return windows;
}
