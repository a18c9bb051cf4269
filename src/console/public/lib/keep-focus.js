import { useEffect, useRef } from './html.js';

/**
 * Keeps keyboard users in place when new data removes the focused element, for example a button in a removed row. In
 * that case, the focus moves to the page's content instead of the top of the page. Returns a function that must be
 * called after each action.
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
