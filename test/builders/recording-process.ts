import { createLedger } from '../../src/features/ledger/record/create-ledger.ts';
import { createKindOf } from '../../src/engine/model/violation-kind.ts';
import { openLedgerInMemory } from '../../src/features/ledger/store/select-store.ts';
import { openFileStore } from '../../src/features/ledger/store/sqlite/file-store.ts';
import type { LedgerStore } from '../../src/features/ledger/ledger-store.ts';
import { createTrace } from '../../src/engine/model/trace.ts';

/** A line in the output. */
export interface RecordingLine {
  readonly event: 'recorded' | 'passed' | 'written';
  readonly count: number;
}

// Crash tests run this program as a separate process. It records a violation at most every 5 ms until it is killed. It
// prints a line when it has recorded a violation, when the ledger passes a batch to the store, and when the store has
// written the batch. The last two kinds of line contain the number of violations that had been recorded when the batch
// was passed.
const [path = '', most = 'Infinity'] = process.argv.slice(2);
const limits = { maxEntries: 100, retentionDays: 30, maxBytes: 4 * 1024 * 1024 };
const print = (line: RecordingLine) => process.stdout.write(`${JSON.stringify(line)}\n`);
let recorded = 0;
const ledger = createLedger({
  clock: () => Date.now(),
  kindOf: createKindOf(),
  operations: ['listQuestions'],
  release: 'one',
  inMemory: openLedgerInMemory(limits),
  async openStore() {
    const opened = await openFileStore(path, limits);
    const write: LedgerStore['write'] = async (batch) => {
      const count = recorded;
      print({ event: 'passed', count });
      const state = await opened.store.write(batch);
      print({ event: 'written', count });
      return state;
    };
    return { ...opened, store: { ...opened.store, write } };
  },
});
await ledger.open();

while (recorded < Number(most)) {
  recorded += 1;
  const start = { requestId: `r${recorded}`, traceparent: '', method: 'GET', startedAt: Date.now() };
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
  print({ event: 'recorded', count: recorded });
  await new Promise((resolve) => {
    setTimeout(resolve, 5);
  });
}
