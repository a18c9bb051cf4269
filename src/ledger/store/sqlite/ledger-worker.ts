import { parentPort, workerData } from 'node:worker_threads';
import { openSqliteStore } from './sqlite-store.ts';
import type { WorkerResponse, WorkerRequest, WorkerStart } from './file-store.ts';

// This thread writes the ledger file, so that no request has to wait for the disk.
const { path, limits, callerKey } = workerData as WorkerStart;
const store = openSqliteStore(path, limits, callerKey);

const perform = async (task: WorkerRequest) => {
  if (task.kind === 'write') return store.write(task.batch);
  if (task.kind === 'read') return store.read(task.query, task.takenAt);
  await store.close();
  return undefined;
};

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
const respond = (message: WorkerResponse) => parentPort?.postMessage(message);

parentPort?.on('message', (task: WorkerRequest) => {
  const { id } = task;
  perform(task).then(
    (result) => respond({ id, result }),
    (error: unknown) => respond({ id, failure: error instanceof Error ? error.message : String(error) }),
  );
});
