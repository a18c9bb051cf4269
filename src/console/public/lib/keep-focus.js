import { useEffect, useRef } from './html.js';

/**
 * Preserves the focus if the focused element, such as the button of a removed row, disappears when new data is shown:
 * the focus moves to the content instead of the top of the page. Returns the function to call after an action.
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
