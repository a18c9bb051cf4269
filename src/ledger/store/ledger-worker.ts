import { parentPort, workerData } from 'node:worker_threads';
import { openSqliteStore } from './sqlite-store.ts';
import type { WorkerAnswer, WorkerRequest, WorkerStart } from './worker-messages.ts';

// The thread that writes the ledger's file: requests never wait for a disk.
const { path, limits, callerKey } = workerData as WorkerStart;
const store = openSqliteStore(path, limits, callerKey);

const perform = async (task: WorkerRequest) => {
  if (task.kind === 'write') return store.write(task.batch);
  if (task.kind === 'read') return store.read(task.query, task.takenAt);
  await store.close();
  return undefined;
};

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
const answer = (message: WorkerAnswer) => parentPort?.postMessage(message);

parentPort?.on('message', (task: WorkerRequest) => {
  const { id } = task;
  perform(task).then(
    (result) => answer({ id, result }),
    (error: unknown) => answer({ id, failure: error instanceof Error ? error.message : String(error) }),
  );
});
