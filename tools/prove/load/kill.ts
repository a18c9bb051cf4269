import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { grouped, pause, type ProofResult } from '../proof.ts';
import { commentAsk, listAsk, violatingAsk, writeAsk } from './callers.ts';
import { type Ask, startLoad } from './load-client.ts';
import { startGateway, withProcesses } from './processes.ts';
import { countInLedger } from './soak.ts';

const DEMO_ROLES = join(import.meta.dirname, '../../../config/roles.yaml');
/** An account on the reference server. */
const CALLER = 'admin';
const COMMENT = 'Written shortly before a crash.';
const CONNECTIONS = 16;
/** Each client may have missed the response to its last request. */
const MAX_UNSEEN = CONNECTIONS;

/** The options for the scenario. */
export interface KillOptions {
  readonly kills: number;
  readonly seconds: number;
  /** The maximum age, in milliseconds, of ledger entries that may be lost in a crash. */
  readonly lossMs: number;
  tick(text: string): void;
}

/**
 * Kills and restarts a busy gateway several times. All its files must be intact, and the ledger must contain every
 * violation except those of the last second.
 */
export function killUnderLoad({ kills, seconds, lossMs, tick }: KillOptions): Promise<ProofResult> {
  return withProcesses(async (group) => {
    // The gateway runs the reference server, whose database must contain every confirmed write.
    const gateway = await startGateway(group, undefined, {
      config: {
        roles: { file: DEMO_ROLES },
        // Makes the gateway write to every file as often as possible.
        learn: { traffic: true },
        levels: { promote: { enabled: true, minAnswers: 1, windowHours: 1 } },
      },
    });
    let confirmed = 0;
    const faults: string[] = [];
    const files = new Set<string>();
    let sent = 0;
    let stored = 0;
    let worst = 0;
    for (let kill = 1; kill <= kills; kill += 1) {
      /** The times at which responses to requests with violations arrived. */
      const recorded: number[] = [];
      let number = 0;
      const running = startLoad({
        connections: CONNECTIONS,
        port: () => gateway.port,
        perSecond: 400,
        next: () => {
          number += 1;
          if (number % 8 === 0) return counting(commentAsk(CALLER, COMMENT), 201, () => (confirmed += 1));
          if (number % 10 === 1) return writeAsk(CALLER);
          if (number % 2 === 0) return listAsk(CALLER, `key${number}`);
          return counting(violatingAsk(CALLER), 400, () => recorded.push(performance.now()));
        },
      });
      // The ledger is written every 500 ms. Each kill is timed to happen at a different interval after the last write.
      await pause(seconds * 1000 + kill * 137);
      const killedAt = performance.now();
      await gateway.end('SIGKILL');
      const taken = await takePort(gateway.port);
      const counts = await running.stop();
      sent += counts.sent;
      for (const [text, count] of counts.wrong) faults.push(`wrong: ${text} (${count} ×)`);
      for (const fault of damagedFiles(join(gateway.folder, '.portico', 'demo'), files))
        faults.push(`kill ${kill}: ${fault}`);
      const comments = countComments(gateway.folder);
      if (comments < confirmed) faults.push(`kill ${kill}: ${confirmed - comments} confirmed comments are lost`);
      const inLedger = await countInLedger(gateway.folder, '.portico/demo');
      const isNew = inLedger - stored;
      const due = recorded.filter((at) => at <= killedAt - lossMs).length;
      if (isNew < due) faults.push(`kill ${kill}: the ledger lost ${due - isNew} violations older than ${lossMs} ms`);
      if (isNew > recorded.length + MAX_UNSEEN)
        faults.push(`kill ${kill}: the ledger counts ${isNew} violations, but there were ${recorded.length}`);
      worst = Math.max(worst, recorded.length - isNew);
      stored = inLedger;
      tick(`kill ${kill} of ${kills}: ${isNew} of ${recorded.length} violations stored`);
      await gateway.start();
      taken.close();
    }
    const code = await gateway.end('SIGTERM');
    if (code !== 0) faults.push(`the gateway ended with ${code}: ${gateway.errors().slice(-500)}`);
    return {
      cases: kills,
      faults,
      figures: [
        `${grouped(sent)} requests`,
        `${grouped(stored)} violations stored, at most ${worst} of the last second lost per kill`,
        `${grouped(confirmed)} confirmed comments, none lost`,
        `intact: ${[...files].toSorted().join(', ')}`,
      ].join('; '),
    };
  });
}

/** Calls a function for each response with this status. */
function counting(ask: Ask, status: number, count: () => void): Ask {
  return {
    ...ask,
    judge: (response) => {
      if (response.status === status) count();
      return ask.judge(response);
    },
  };
}

/**
 * Listens on the port of a killed gateway, as any other program might. Does nothing if another program already uses
 * the port.
 */
async function takePort(port: number): Promise<Server> {
  const server = createServer((socket) => socket.destroy()).listen(port, '127.0.0.1');
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
  });
  return server;
}

/** Returns the number of comments in the reference server's database. */
function countComments(folder: string): number {
  const database = new DatabaseSync(join(folder, '.portico/reference.db'), { readOnly: true });
  try {
    return Number(database.prepare('SELECT count(*) AS count FROM nodes WHERE body = ?').get(COMMENT)?.['count']);
  } finally {
    database.close();
  }
}

/**
 * Checks every file of the gateway. Adds the names of intact files to the set, and returns what is wrong with the
 * others.
 */
function damagedFiles(folder: string, intact: Set<string>): string[] {
  if (!existsSync(folder)) return ['the gateway has written no files'];
  return readdirSync(folder).flatMap((name) => {
    const fault = faultOf(join(folder, name));
    if (fault === undefined) intact.add(name.replace(/\.tmp.*|-(?:wal|shm)$/, ''));
    return fault === undefined ? [] : [`${name}: ${fault}`];
  });
}

function faultOf(file: string): string | undefined {
  try {
    if (file.endsWith('.db')) {
      const database = new DatabaseSync(file);
      try {
        const [row] = database.prepare('PRAGMA integrity_check').all();
        const text = row?.['integrity_check'];
        return text === 'ok' ? undefined : String(text);
      } finally {
        database.close();
      }
    }
    if (file.endsWith('.json')) JSON.parse(readFileSync(file, 'utf8'));
    else if (file.endsWith('.jsonl'))
      for (const line of readFileSync(file, 'utf8').split('\n')) if (line !== '') JSON.parse(line);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
