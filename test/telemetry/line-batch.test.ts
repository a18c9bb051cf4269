import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLineBatch } from '../../src/telemetry/line-batch.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function batch() {
  const written: string[] = [];
  return { written, lines: createLineBatch({ write: (bytes) => void written.push(bytes.toString()) }) };
}

describe('a batch of lines', () => {
  it('writes the lines of 10 ms together and in order', () => {
    const { lines, written } = batch();
    lines.write('a\n');
    vi.advanceTimersByTime(9);
    lines.write('b\n');
    expect(written).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(written).toEqual(['a\nb\n']);
    lines.write('c\n');
    vi.advanceTimersByTime(10);
    expect(written).toEqual(['a\nb\n', 'c\n']);
  });

  it('writes a full buffer at once, and only once', () => {
    const { lines, written } = batch();
    const line = `${'x'.repeat(1023)}\n`;
    for (let times = 0; times < 62; times += 1) lines.write(line);
    expect(written).toEqual([]);
    lines.write(line);
    expect(written).toEqual([line.repeat(62)]);
    vi.advanceTimersByTime(100);
    expect(written).toEqual([line.repeat(62), line]);
  });

  it('writes every character unchanged, including a line that is longer than the buffer', () => {
    const { lines, written } = batch();
    const long = `${'ü€𝄞'.repeat(9000)}\n`;
    lines.write('é\n');
    lines.write(long);
    lines.write('\u{10FFFF}\n');
    lines.flush();
    expect(written).toEqual(['é\n', long, '\u{10FFFF}\n']);
  });

  it('passes on bytes that later lines do not overwrite', () => {
    const given: Buffer[] = [];
    const lines = createLineBatch({ write: (bytes) => void given.push(bytes) });
    lines.write('first\n');
    lines.flush();
    lines.write('other\n');
    lines.flush();
    expect(given.map(String)).toEqual(['first\n', 'other\n']);
  });

  it('writes buffered lines once when flushed', () => {
    const { lines, written } = batch();
    lines.write('a\n');
    lines.flush();
    lines.flush();
    vi.advanceTimersByTime(100);
    expect(written).toEqual(['a\n']);
  });

  it('writes nothing and runs no timer while the buffer is empty', () => {
    const { lines, written } = batch();
    lines.flush();
    expect([written, vi.getTimerCount()]).toEqual([[], 0]);
    lines.write('a\n');
    expect(vi.getTimerCount()).toBe(1);
    lines.flush();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('continues after a failure of its destination', () => {
    const written: string[] = [];
    let full = true;
    const lines = createLineBatch({
      write: (bytes) => {
        if (full) throw new Error('full');
        written.push(bytes.toString());
      },
    });
    lines.write('a\n');
    expect(() => lines.flush()).toThrow('full');
    full = false;
    lines.write('b\n');
    vi.advanceTimersByTime(10);
    expect(written).toEqual(['b\n']);
  });
});
