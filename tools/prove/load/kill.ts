import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { grouped, pause, type ProofResult } from '../proof.ts';
import { CALLERS, pageAsk, violatingAsk, writeAsk } from './callers.ts';
import { startLoad } from './load-client.ts';
import { withScene } from './processes.ts';
import { countInLedger } from './soak.ts';

const CONNECTIONS = 16;
/** The clients may not have received the responses to their last requests. */
const MAX_UNSEEN = CONNECTIONS;

/** Options of the scenario. */
export interface KillOptions {
  readonly kills: number;
  readonly seconds: number;
  /** How much of the ledger a crash may lose, in milliseconds. */
  readonly lossMs: number;
  tick(text: string): void;
}

/**
 * Kills a busy gateway several times and starts it again. All files must be intact, and the ledger must contain every
 * violation except those of the last second.
 */
export function killUnderLoad({ kills, seconds, lossMs, tick }: KillOptions): Promise<ProofResult> {
  return withScene(async ({ startGateway }) => {
    const gateway = await startGateway({
      // Writes to every file as often as possible.
      learn: { traffic: true },
      ladder: { promote: { enabled: true, minAnswers: 1, windowHours: 1 } },
    });
    const faults: string[] = [];
    const files = new Set<string>();
    let sent = 0;
    let stored = 0;
    let worst = 0;
    for (let kill = 1; kill <= kills; kill += 1) {
      /** The instants at which the responses to violating requests arrived. */
      const recorded: number[] = [];
      let number = 0;
      const running = startLoad({
        connections: CONNECTIONS,
        port: () => gateway.port,
        perSecond: 400,
        next: (client) => {
          number += 1;
          const name = CALLERS[client % CALLERS.length] ?? '';
          if (number % 10 === 0) return writeAsk(name);
          if (number % 2 === 0) return pageAsk(name, `key${number}`);
          const ask = violatingAsk(name);
          return {
            ...ask,
            judge: (response) => {
              if (response.status === 400) recorded.push(performance.now());
              return ask.judge(response);
            },
          };
        },
      });
      // The kills happen at different times after the last write of the ledger, which takes place every 500 ms.
      await pause(seconds * 1000 + kill * 137);
      const killedAt = performance.now();
      await gateway.end('SIGKILL');
      const counts = await running.stop();
      sent += counts.sent;
      for (const [text, count] of counts.wrong) faults.push(`wrong: ${text} (${count} ×)`);
      for (const fault of damagedFiles(join(gateway.folder, '.portico'), files)) faults.push(`kill ${kill}: ${fault}`);
      const inLedger = await countInLedger(gateway.folder);
      const isNew = inLedger - stored;
      const due = recorded.filter((at) => at <= killedAt - lossMs).length;
      if (isNew < due) faults.push(`kill ${kill}: the ledger lost ${due - isNew} violations older than ${lossMs} ms`);
      if (isNew > recorded.length + MAX_UNSEEN)
        faults.push(`kill ${kill}: the ledger counts ${isNew} violations, but there were ${recorded.length}`);
      worst = Math.max(worst, recorded.length - isNew);
      stored = inLedger;
      tick(`kill ${kill} of ${kills}: ${isNew} of ${recorded.length} violations stored`);
      await gateway.start();
    }
    const code = await gateway.end('SIGTERM');
    if (code !== 0) faults.push(`the gateway ended with ${code}: ${gateway.errors().slice(-500)}`);
    return {
      cases: kills,
      faults,
      figures: [
        `${grouped(sent)} requests`,
        `${grouped(stored)} violations stored, at most ${worst} of the last second lost per kill`,
        `intact: ${[...files].toSorted().join(', ')}`,
      ].join('; '),
    };
  });
}

/** Checks every file of the gateway. Adds the names of intact files to the set and returns what is wrong. */
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
