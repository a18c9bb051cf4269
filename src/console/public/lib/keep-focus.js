import { useEffect, useRef } from './html.js';

/**
 * Takes care of the focus when what was just used goes away with the next data, like the button of a row that is gone:
 * the content gets it then, and not the beginning of the page. Gives the function to call once something was done.
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
