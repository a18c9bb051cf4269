import { describe, expect, it } from 'vitest';
import { createTraceRecorder } from '../../src/pipeline/trace-observers.ts';
import { traceWith } from '../builders/exchange.ts';

describe('the recorder of traces', () => {
  // The attack: whatever makes a metric or the ledger throw. The error would be thrown while a response closes, and end
  // the process.
  it('passes a trace to every observer in order, and reports one that throws without stopping the others', () => {
    const seen: string[] = [];
    const broken = new Error('broken');
    const record = createTraceRecorder(
      [
        { name: 'metrics', record: ({ requestId }) => seen.push(`metrics ${requestId}`) },
        {
          name: 'ledger',
          record: () => {
            throw broken;
          },
        },
        { name: 'ladder', record: ({ requestId }) => seen.push(`ladder ${requestId}`) },
      ],
      (name, error) => seen.push(`${name} failed: ${error === broken}`),
    );
    record(traceWith({}));
    expect(seen).toEqual(['metrics request-1', 'ledger failed: true', 'ladder request-1']);
  });
});
