import { get } from './api.js';
import { useCallback, useEffect, useRef, useState } from './html.js';

const EVERY_MS = 3000;
const SLOWEST_MS = 30_000;

const listeners = new Set();
const state = { paused: false };

/** @typedef {import('./api.js').ApiError} ApiError */
/**
 * @typedef {{ path?: string, data?: any, error?: ApiError | undefined, updatedAt?: number }} Seen the latest response,
 * and of which path
 */

/**
 * Whether reading goes on by itself, and how to switch it.
 * @returns {[boolean, (paused: boolean) => void]}
 */
export function usePaused() {
  const [paused, setPaused] = useState(state.paused);
  useEffect(() => {
    listeners.add(setPaused);
    return () => listeners.delete(setPaused);
  }, []);
  const set = useCallback((value) => {
    state.paused = value;
    for (const listener of listeners) listener(value);
  }, []);
  return [paused, set];
}

/**
 * Reads a path again and again while the page is seen and not paused: one request at a time, slower after failures, not
 * at all where the token is no longer taken. Only the latest answer is held.
 */
export function usePoll(path) {
  const [seen, setSeen] = useState(/** @type {Seen} */ ({}));
  const [paused] = usePaused();
  const refresh = useRef(() => {});

  useEffect(() => {
    let timer;
    let reading;
    let failures = 0;
    let ended = false;
    const later = () => {
      clearTimeout(timer);
      if (ended || state.paused || document.hidden) return;
      timer = setTimeout(read, Math.min(SLOWEST_MS, EVERY_MS * 2 ** failures));
    };
    const read = async () => {
      clearTimeout(timer);
      reading?.abort();
      const own = new AbortController();
      reading = own;
      try {
        const data = await get(path, own.signal);
        if (own.signal.aborted) return;
        failures = 0;
        setSeen({ path, data, error: undefined, updatedAt: Date.now() });
      } catch (error) {
        if (own.signal.aborted) return;
        failures = Math.min(5, failures + 1);
        const failed = /** @type {ApiError} */ (error);
        setSeen((before) => ({ ...before, ...(before.path !== path && { data: undefined, path }), error: failed }));
        if (failed.status === 401 || failed.status === 403 || failed.status === 404) return;
      }
      later();
    };
    const onVisible = () => {
      if (document.hidden) clearTimeout(timer);
      else if (!state.paused) void read();
    };
    refresh.current = () => void read();
    void read();
    document.addEventListener('visibilitychange', onVisible);
    return () => {
      ended = true;
      clearTimeout(timer);
      reading?.abort();
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, [path, paused]);

  // What was read for another path is not this page's.
  const fits = seen.path === path;
  return {
    data: fits ? seen.data : undefined,
    stale: fits ? undefined : seen.data,
    error: fits ? seen.error : undefined,
    updatedAt: seen.updatedAt,
    refresh: useCallback(() => refresh.current(), []),
  };
}
