import { useEffect, useRef } from './html.js';

/**
 * Handles the focus when new data makes the focused element disappear, for example a button in a removed row. The focus
 * then moves to the page's content instead of the top of the page. Returns a function that must be called after each
 * action.
 */
export function useKeptFocus(data) {
  const acted = useRef(false);
  useEffect(() => {
    if (!acted.current) return;
    acted.current = false;
    if (document.activeElement === document.body) document.getElementById('main')?.focus({ preventScroll: true });
  }, [data]);
  return () => {
    acted.current = true;
  };
}
