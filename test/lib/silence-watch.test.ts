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

  it('begins anew at every touch and every start', () => {
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

  it('overlooks a silence that is somebody else’s until the patience is over', () => {
    const onSilence = vi.fn<(end: string) => void>();
    createSilenceWatch(onSilence).start(100, { excused: () => true, patienceMs: 300 });
    vi.advanceTimersByTime(299);
    expect(onSilence).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(onSilence.mock.calls).toEqual([['patience']]);
  });

  it('stays quiet once it was stopped, also when it is touched or started again', () => {
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
