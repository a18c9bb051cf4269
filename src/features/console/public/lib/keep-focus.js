import { useEffect, useRef } from './html.js';

/**
 * Prevents the focus from jumping to the top of the page when new data removes the focused element, such as a button in
 * a removed row. The focus moves to the page's content instead. Returns a function that must be called after each
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
