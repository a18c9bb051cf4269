import { describe, expect, it } from 'vitest';
import { createPeer, type Peer } from '../../src/workers/ipc-peer.ts';
import { superviseWorkers, type WorkerProcess } from '../../src/workers/supervise-workers.ts';
import { ipcChannel } from '../builders/ipc-channel.ts';
import { until } from '../builders/until.ts';

/** Creates a worker process that exists only in this test. */
function fakeWorker() {
  const { ends, close } = ipcChannel();
  const exits: ((code: number | null, signal: string | null) => void)[] = [];
  const killed: string[] = [];
  const end = (code: number | null, signal: string | null = null) => {
    close();
    exits.forEach((exit) => exit(code, signal));
  };
  const process: WorkerProcess = {
    ...ends[0],
    pid: 1,
    onExit: (listener) => void exits.push(listener),
    kill: (signal) => {
      killed.push(signal);
      end(null, signal);
    },
  };
  const peer: Peer = createPeer(ends[1], (name) =>
    name === 'stop' ? () => queueMicrotask(() => end(0)) : name === 'echo' ? (value: unknown) => value : undefined,
  );
  return { process, peer, end, killed };
}

function supervised(count: number) {
  const workers: (ReturnType<typeof fakeWorker> & { number: number })[] = [];
  const crashes: number[] = [];
  const ended: number[] = [];
  let now = 0;
  const supervisor = superviseWorkers({
    count,
    clock: () => now,
    fork: (number) => {
      const worker = Object.assign(fakeWorker(), { number });
      workers.push(worker);
      return worker.process;
    },
    handlerOf: () => undefined,
    events: {
      onCrash: (_worker, _cause, delayMs) => void crashes.push(delayMs),
      onEnd: (worker) => void ended.push(worker.number),
    },
  });
  return { supervisor, workers, crashes, ended, pass: (ms: number) => (now += ms) };
}

describe('the supervisor of the workers', () => {
  it('has started when every worker is ready', async () => {
    const { supervisor, workers } = supervised(2);
    const started = supervisor.start();
    expect(supervisor.ready()).toEqual([]);
    await workers[0]?.peer.call('ready');
    await until(() => workers.length === 2);
    await workers[1]?.peer.call('ready');
    await started;
    expect(supervisor.ready().map(({ number }) => number)).toEqual([1, 2]);
    expect(await supervisor.callAll('echo', 5)).toEqual([5, 5]);
    await supervisor.stop(1000);
    expect(workers.flatMap(({ killed }) => killed)).toEqual([]);
  });

  it('rejects the start if a worker ends before it is ready', async () => {
    const { supervisor, workers } = supervised(1);
    const started = supervisor.start();
    workers[0]?.end(1);
    await expect(started).rejects.toThrow('worker 1 ended with exit code 1');
    await supervisor.stop(0);
  });

  it('replaces a crashed worker, and waits longer after each crash until a worker has run for a while', async () => {
    const { supervisor, workers, crashes, pass } = supervised(1);
    const started = supervisor.start();
    await workers[0]?.peer.call('ready');
    await started;
    workers[0]?.end(null, 'SIGSEGV');
    expect(supervisor.ready()).toEqual([]);
    await until(() => workers.length === 2);
    await workers[1]?.peer.call('ready');
    workers[1]?.end(1);
    await until(() => workers.length === 3);
    expect(crashes).toEqual([100, 200]);
    await workers[2]?.peer.call('ready');
    pass(60_000);
    workers[2]?.end(1);
    expect(crashes).toEqual([100, 200, 100]);
    expect(supervisor.restarts()).toBe(3);
    await supervisor.stop(0);
  });

  it('reports every worker that has ended, whether it crashed or was stopped', async () => {
    const { supervisor, workers, ended } = supervised(2);
    const started = supervisor.start();
    await workers[0]?.peer.call('ready');
    await until(() => workers.length === 2);
    await workers[1]?.peer.call('ready');
    await started;
    workers[1]?.end(null, 'SIGSEGV');
    expect(ended).toEqual([2]);
    await supervisor.stop(1000);
    expect(ended).toEqual([2, 1]);
  });

  it('kills the workers that do not end in time', async () => {
    const { supervisor, workers } = supervised(1);
    const started = supervisor.start();
    const stopped = supervisor.stop(0);
    await expect(started).rejects.toThrow('SIGKILL');
    await stopped;
    expect(workers[0]?.killed).toEqual(['SIGKILL']);
  });
});

describe('a call to the other process', () => {
  it('rejects if the function fails, does not exist or gives no result in time, and when the other process ends', async () => {
    const { ends, close } = ipcChannel();
    createPeer(ends[1], (name) => {
      if (name === 'fail') return () => Promise.reject(new Error('no'));
      return name === 'hang' ? () => new Promise(() => undefined) : undefined;
    });
    const peer = createPeer(ends[0], () => undefined);
    await expect(peer.call('fail')).rejects.toThrow('no');
    await expect(peer.call('none')).rejects.toThrow('none is not a function of this process');
    await expect(peer.call('hang', undefined, 1)).rejects.toThrow('hang: no result after 1 ms');
    const waiting = peer.call('hang');
    close();
    await expect(waiting).rejects.toThrow('the other process has ended');
    await expect(peer.call('hang')).rejects.toThrow('the other process has ended');
  });
});
