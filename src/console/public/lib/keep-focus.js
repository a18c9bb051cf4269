import { useEffect, useRef } from './html.js';

/**
 * Keeps the focus when the element that had it disappears with the next data, such as the button of a removed row: the
 * focus moves to the content instead of the top of the page. Returns the function to call after an action.
 */
export function useKeptFocus(data) {
  const done = useRef(false);
  useEffect(() => {
    if (!done.current) return;
    done.current = false;
    if (document.activeElement === document.body) document.getElementById('main')?.focus({ preventScroll: true });
  }, [data]);
  return () => {
    done.current = true;
  };
}
