import { get } from './api.js';
import { useCallback, useEffect, useRef, useState } from './html.js';

const EVERY_MS = 3000;
const SLOWEST_MS = 30_000;

const listeners = new Set();
const state = { paused: false };

/** @typedef {import('./api.js').ApiError} ApiError */
/**
 * @typedef {{ path?: string, data?: any, error?: ApiError | undefined, updatedAt?: number, failedAt?: number | undefined }} Latest
 *   the latest response and its path, and the time of the first failure since then
 */

/**
 * Returns whether polling is paused, and a function that pauses or resumes it.
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
 * Polls a path while the page is visible and polling is not paused. Sends one request at a time. Polls more slowly
 * after a failure, and stops if the token is refused. Keeps only the latest response.
 */
export function usePoll(path) {
  const [latest, setLatest] = useState(/** @type {Latest} */ ({}));
  const refresh = useRef(() => {});

  useEffect(() => {
    let timer;
    let reading;
    let failures = 0;
    let ended = false;
    const schedule = () => {
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
        setLatest({ path, data, error: undefined, updatedAt: Date.now(), failedAt: undefined });
      } catch (error) {
        if (own.signal.aborted) return;
        failures = Math.min(5, failures + 1);
        const failed = /** @type {ApiError} */ (error);
        setLatest((before) => ({
          ...before,
          ...(before.path !== path && { data: undefined, path }),
          error: failed,
          failedAt: before.failedAt ?? Date.now(),
        }));
        if (failed.status === 401 || failed.status === 403 || failed.status === 404) return;
      }
      schedule();
    };
    const onChange = () => {
      if (document.hidden || state.paused) clearTimeout(timer);
      else void read();
    };
    refresh.current = () => void read();
    void read();
    listeners.add(onChange);
    document.addEventListener('visibilitychange', onChange);
    return () => {
      ended = true;
      clearTimeout(timer);
      reading?.abort();
      listeners.delete(onChange);
      document.removeEventListener('visibilitychange', onChange);
    };
  }, [path]);

  // Data for another path must not appear on the current page.
  const fits = latest.path === path;
  return {
    data: fits ? latest.data : undefined,
    stale: fits ? undefined : latest.data,
    error: fits ? latest.error : undefined,
    updatedAt: latest.updatedAt,
    failedAt: latest.failedAt,
    refresh: useCallback(() => refresh.current(), []),
  };
}
