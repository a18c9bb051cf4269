import { afterAll, afterEach } from 'vitest';

type Task = () => unknown;

const afterTest = new Set<Task>();
const afterFile = new Set<Task>();

/** Runs a task after the current test. */
export const cleanUpAfterTest = (task: Task): unknown => afterTest.add(task);

/** Runs a task after the last test of the current file. */
export const cleanUpAfterFile = (task: Task): unknown => afterFile.add(task);

/**
 * Registers the hooks that run the tasks for the current test file. All files that a worker runs share their modules.
 * A hook at the top of this module would therefore apply only to the first file that imports it.
 */
export function registerCleanUp(): void {
  afterEach(() => runAll(afterTest));
  afterAll(() => runAll(afterFile));
}

async function runAll(tasks: Set<Task>): Promise<void> {
  const current = [...tasks];
  tasks.clear();
  const ends = await Promise.allSettled(current.map(async (task) => task()));
  const failed = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
  if (failed.length > 0) throw new AggregateError(failed, 'the clean-up of tests failed');
}
