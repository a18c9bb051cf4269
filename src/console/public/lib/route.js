import { useEffect, useState } from './html.js';

/** Where the address leads: the words of the path and the values of the query behind the `#`. */
export function readRoute(hash = location.hash) {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const words = path.split('/').filter((word) => word !== '');
  return { words, query: Object.fromEntries(new URLSearchParams(query)) };
}

/** An address within the console; empty values are left out. */
export function hrefOf(words, query = {}) {
  const kept = Object.entries(query).filter(([, value]) => value !== '' && value !== undefined);
  const text = new URLSearchParams(kept).toString();
  return `#/${words.map((word) => encodeURIComponent(word)).join('/')}${text === '' ? '' : `?${text}`}`;
}

/** The route, followed as it changes. */
export function useRoute() {
  const [route, setRoute] = useState(readRoute);
  useEffect(() => {
    const follow = () => setRoute(readRoute());
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return route;
}

/** Changes the query of the address without a step in the history. */
export function setQuery(words, query) {
  history.replaceState(null, '', hrefOf(words, query));
  dispatchEvent(new HashChangeEvent('hashchange'));
}
