import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSilenceWatch } from '../../src/lib/silence-watch.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a silence watch', () => {
  it('calls back once when nothing happens', () => {
    const onSilence = vi.fn<(end: string) => void>();
    createSilenceWatch(onSilence).start(100);
    vi.advanceTimersByTime(1000);
    expect(onSilence.mock.calls).toEqual([['silence']]);
  });

  it('restarts at every touch and every start', () => {
    const onSilence = vi.fn<() => void>();
    const watch = createSilenceWatch(onSilence);
    watch.start(100);
    vi.advanceTimersByTime(90);
    watch.touch();
    vi.advanceTimersByTime(90);
    watch.start(200);
    vi.advanceTimersByTime(190);
    expect(onSilence).not.toHaveBeenCalled();
  });

  it('tolerates an excused silence until the patience runs out', () => {
    const onSilence = vi.fn<(end: string) => void>();
    createSilenceWatch(onSilence).start(100, { excused: () => true, patienceMs: 300 });
    vi.advanceTimersByTime(299);
    expect(onSilence).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(onSilence.mock.calls).toEqual([['patience']]);
  });

  it('never calls back after stop, even when touched or started again', () => {
    const onSilence = vi.fn<() => void>();
    const watch = createSilenceWatch(onSilence);
    watch.start(100);
    watch.stop();
    watch.touch();
    watch.start(100);
    vi.advanceTimersByTime(1000);
    expect(onSilence).not.toHaveBeenCalled();
  });
});
