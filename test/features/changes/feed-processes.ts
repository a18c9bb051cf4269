import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { callAt } from '../../builders/call.ts';
import { cleanUpAfterTest } from '../../builders/clean-up.ts';
import { fastRoles } from '../../builders/fast-roles.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { eventually } from '../../builders/until.ts';

const script = join(import.meta.dirname, 'feed-process.ts');

/** A gateway with a change feed, in a process of its own. */
export interface FeedProcess {
  readonly url: string;
  readonly adminUrl: string;
  /** Returns the metrics, as text. Empty if the gateway cannot be reached. */
  metrics(): Promise<string>;
  /** Returns the number of bytes of memory still in use once garbage has been collected. */
  memory(): Promise<number>;
  /** Ends the process at once, as the kernel does when memory is short. */
  kill(): Promise<void>;
  /** Ends the process as a restart does. */
  close(): Promise<void>;
  /** Makes the gateway read its configuration again. */
  reload(): Promise<void>;
}

/** Starts a gateway with the configuration in a folder. */
export async function startFeed(folder: string, upstream: string): Promise<FeedProcess> {
  const child = fork(script, [folder, upstream], { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  cleanUpAfterTest(() => child.kill('SIGKILL'));
  const { url, adminUrl } = await nextMessage<{ url: string; adminUrl: string }>(child);
  const end = async (how: () => void) => {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('the gateway has ended by itself');
    const gone = once(child, 'exit');
    how();
    await gone;
  };
  return {
    url,
    adminUrl,
    metrics: async () => (await callAt(adminUrl, '/metrics', { user: null }).catch(() => ({ text: '' }))).text,
    async memory() {
      const message = nextMessage<NodeJS.MemoryUsage>(child);
      child.send('memory');
      const { heapUsed, external } = await message;
      return heapUsed + external;
    },
    kill: () => end(() => child.kill('SIGKILL')),
    close: () => end(() => child.send('close')),
    async reload() {
      const message = nextMessage<{ outcome: string }>(child);
      child.send('reload');
      const { outcome } = await message;
      if (outcome !== 'applied') throw new Error(`the reload was ${outcome}`);
    },
  };
}

/** Returns the next message of a process. */
async function nextMessage<Message>(child: ChildProcess): Promise<Message> {
  const ended = new AbortController();
  const end = () => ended.abort(new Error('the gateway has ended by itself'));
  child.once('exit', end);
  try {
    const [message] = (await once(child, 'message', { signal: ended.signal })) as [Message];
    return message;
  } finally {
    child.off('exit', end);
  }
}

/** Writes the configuration of a gateway with a change feed into a folder. Returns a function that replaces its options. */
export async function configureFeed(
  changes: object,
  more: object = {},
): Promise<{ readonly folder: string; replace(other: object): void }> {
  const folder = tempFolder();
  writeFileSync(join(folder, 'password'), 'admin\n', { mode: 0o600 });
  writeFileSync(join(folder, 'roles.yaml'), await fastRoles());
  const replace = (other: object) => {
    const config = {
      listen: { port: 0, adminPort: 0 },
      ledger: { file: ':memory:' },
      levels: { file: ':memory:' },
      learn: { file: ':memory:' },
      ...more,
      changes: {
        username: 'admin',
        passwordFile: join(folder, 'password'),
        folder: join(folder, 'changes'),
        everySeconds: 1,
        requestsPerMinute: 3_000,
        pageSize: 20,
        ...changes,
        ...other,
      },
    };
    writeFileSync(join(folder, 'portico.yaml'), stringify(config));
  };
  replace({});
  return { folder, replace };
}

/** How long a test waits for something, in milliseconds, before it says what is missing. */
const PATIENCE_MS = 90_000;

/** Waits until a condition is true. A failure says what was awaited and what was missing. */
export async function within(
  what: string,
  condition: () => boolean | Promise<boolean>,
  missing: () => unknown,
): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  let isTrue = false;
  await eventually(async () => {
    isTrue = await condition();
    return isTrue || performance.now() > giveUpAt;
  });
  if (!isTrue) throw new Error(`waited in vain for ${what}: ${JSON.stringify(await missing())}`);
}

/** Returns the number of readings of each list, by outcome. */
export async function readingsOf(gateways: Iterable<FeedProcess>): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const gateway of gateways) {
    const found = (await gateway.metrics()).matchAll(
      /^portico_changes_readings_total\{list="(\w+)",outcome="(\w+)"\} (\d+)$/gm,
    );
    for (const [, list = '', outcome = '', count] of found)
      counts.set(`${gateway.url} ${list} ${outcome}`, Number(count));
  }
  return counts;
}

/** Resolves once a gateway has begun to read each list after this moment, and read it completely. */
export async function readAgain(gateways: () => Iterable<FeedProcess>, lists: readonly string[]): Promise<void> {
  const before = await readingsOf(gateways());
  let now = before;
  await within(
    'each list to be read',
    async () => {
      now = await readingsOf(gateways());
      // A reading that was in progress may have begun before.
      return lists.every((list) =>
        [...now].some(([key, count]) => key.endsWith(` ${list} complete`) && count >= (before.get(key) ?? 0) + 2),
      );
    },
    () => [...now].filter(([, count]) => count > 0),
  );
}
