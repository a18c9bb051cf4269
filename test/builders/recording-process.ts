import { createLedger } from '../../src/ledger/record/create-ledger.ts';
import { createKindOf } from '../../src/ledger/record/fingerprint.ts';
import { openMemoryStore } from '../../src/ledger/store/memory-store.ts';
import { openFileStore } from '../../src/ledger/store/worker-store.ts';
import { createTrace } from '../../src/model/trace.ts';

// Crash tests run this as a separate process. It records a violation every few milliseconds and prints a line for each
// until it is killed.
const [path = '', most = 'Infinity'] = process.argv.slice(2);
const limits = { maxEntries: 100, retentionDays: 30, maxBytes: 4 * 1024 * 1024 };
const ledger = createLedger({
  clock: () => Date.now(),
  kindOf: createKindOf(),
  operations: ['listQuestions'],
  release: 'one',
  inMemory: openMemoryStore(limits),
  openStore: () => Promise.resolve(openFileStore(path, limits)),
});
await ledger.open();

for (let count = 1; count <= Number(most); count++) {
  const start = { requestId: `r${count}`, traceparent: '', method: 'GET', startedAt: Date.now() };
  ledger.record({
    ...createTrace(start),
    operation: 'listQuestions',
    violations: [
      {
        check: 'responses',
        direction: 'response',
        category: 'type',
        location: 'body',
        at: '/list/0/id',
        keyword: 'type',
        schemaPath: '',
        message: 'must be integer',
      },
    ],
  });
  process.stdout.write(`${JSON.stringify({ count, at: performance.now() })}\n`);
  await new Promise((resolve) => {
    setTimeout(resolve, 5);
  });
}
