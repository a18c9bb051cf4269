import cluster from 'node:cluster';
import type { PrimaryRole } from '../assembly/sharing/process-role.ts';
import { type Settings, withUpstreamUrl, workerShare } from '../config/settings.ts';
import { createGateway, type Gateway } from '../gateway.ts';
import { systemClock } from '../lib/clock.ts';
import { reachableHost } from '../lib/network-address.ts';
import { createPeer, type IpcPort } from '../workers/ipc-peer.ts';
import { createPrimaryChangeLog } from '../workers/ipc-change-log.ts';
import {
  superviseWorkers,
  type Supervisor,
  type WorkerIdentity,
  type WorkerProcess,
} from '../workers/supervise-workers.ts';
import { CommandFailure, type CommandIo, type CommandLine, EXIT } from './command.ts';
import { readSettingsFrom, settingsFrom } from './flags/config-flags.ts';
import { useFlagsForServing } from './v8-flags.ts';

/** Runs the command in a worker process until the primary process stops the worker. */
export async function serveAsWorker(line: CommandLine, io: CommandIo): Promise<number> {
  try {
    await serveUntilStopped(line, io);
    return EXIT.ok;
  } finally {
    // If the channel to the primary process stayed open, it would keep this process running.
    if (process.connected) process.disconnect?.();
  }
}

async function serveUntilStopped(line: CommandLine, io: CommandIo): Promise<void> {
  // Workers ignore signals from a terminal, because the primary process also receives them and then stops the workers.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  const handlers: Record<string, (value: never) => unknown> = {};
  // If the primary process exits first, Node ends this process.
  const stopped = new Promise((resolve) => {
    handlers['stop'] = () => resolve(undefined);
  });
  const primary = createPeer(portOf(process), (name) => handlers[name]);
  const embeddedUrl = (await primary.call('embeddedUrl')) as string | undefined;
  const complete = (read: Settings) =>
    workerShare(embeddedUrl !== undefined && read.embedded ? withUpstreamUrl(read, embeddedUrl) : read);
  const gateway = await createGateway(complete(await settingsFrom(line, io)), {
    readSettings: () => {
      const { settings, faults } = readSettingsFrom(line, io);
      return { settings: complete(settings), faults };
    },
    role: { kind: 'worker', primary, handlers },
  });
  useFlagsForServing();
  handlers['reload'] = async () => (await gateway.reload('program')).outcome;
  await primary.call('ready', gateway.publicUrl);
  await stopped;
  await gateway.close();
}

interface PrimaryGateway {
  readonly gateway: Gateway;
  readonly publicUrl: string;
  close(options: { readonly lameDuckSeconds: number }): Promise<void>;
}

/**
 * Starts the workers and the primary process's part of the gateway. If anything fails to start, closes everything that
 * was started.
 */
export async function startWithWorkers(
  settings: Settings,
  embeddedUrl: string | undefined,
  parts: Omit<Parameters<typeof createGateway>[1] & {}, 'role'>,
): Promise<PrimaryGateway> {
  const handlers: PrimaryRole['handlers'] = { embeddedUrl: () => embeddedUrl };
  const endListeners: ((worker: WorkerIdentity) => void)[] = [];
  let publicUrl = '';
  let gateway: Gateway | undefined;
  cluster.setupPrimary({ serialization: 'advanced' });
  const workers: Supervisor = superviseWorkers({
    count: settings.workers,
    fork: forkWorker,
    clock: systemClock,
    handlerOf: (name, worker) => {
      const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined;
      return handler && ((value) => handler(value, worker));
    },
    events: {
      onReady: (_worker, url) => {
        publicUrl = String(url);
      },
      onCrash: ({ number, pid }, cause, delayMs) =>
        gateway?.services.logger.error(
          { worker: number, pid, cause, delayMs },
          'a worker crashed and will be replaced',
        ),
      onEnd: (worker) => {
        for (const listener of endListeners) listener(worker);
      },
    },
  });
  const role: PrimaryRole = {
    kind: 'primary',
    workers,
    changes: createPrimaryChangeLog(() => workers.joined(), systemClock),
    handlers,
    onEnd: (listener) => void endListeners.push(listener),
    publicAddress() {
      if (publicUrl === '') return undefined;
      const { hostname, port, protocol } = new URL(publicUrl);
      return { host: reachableHost(hostname), port: Number(port) || (protocol === 'https:' ? 443 : 80) };
    },
  };
  const started = await createGateway(settings, { ...parts, role });
  gateway = started;
  const { drainSeconds } = settings.listen;
  try {
    await workers.start();
  } catch (error) {
    await workers.stop(0);
    await started.close();
    const cause = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(`cannot start its workers: ${cause}, for the reason above`);
  }
  return {
    gateway: started,
    publicUrl,
    async close({ lameDuckSeconds }) {
      // While the workers finish their requests, the admin side reports that the gateway is not ready.
      started.drain.started = true;
      await new Promise((resolve) => setTimeout(resolve, lameDuckSeconds * 1000));
      await workers.stop(drainSeconds * 1000 + STOP_MS);
      await started.close();
    },
  };
}

/** How long a worker may take to close its stores after its last request, in milliseconds. */
const STOP_MS = 5_000;

function forkWorker(): WorkerProcess {
  const child = cluster.fork();
  return {
    ...portOf(child),
    pid: child.process.pid,
    onExit: (listener) => void child.on('exit', listener),
    kill: (signal) => void child.process.kill(signal),
  };
}

/**
 * Returns one end of the channel between the primary process and a worker. In a worker, `end` is `process`. In the
 * primary process, it is the worker.
 */
function portOf(end: Pick<NodeJS.Process, 'send' | 'on'> | ReturnType<typeof cluster.fork>): IpcPort {
  const send = end.send as ((message: unknown, onSent: () => void) => unknown) | undefined;
  return {
    // If the process has just exited, the callback receives the error. Without a callback, the error would be thrown
    // here and would not be caught.
    send: (message) => void send?.call(end, message, () => undefined),
    onMessage: (listener) => void end.on('message', listener),
    onClose: (listener) => void end.on('disconnect', listener),
  };
}
