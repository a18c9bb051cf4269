import { useEffect, useState } from './html.js';

/** Parses the part of the URL after `#`: the segments of the path and the values of the query. */
export function readRoute(hash = location.hash) {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const words = path.split('/').filter((word) => word !== '');
  return { words, query: Object.fromEntries(new URLSearchParams(query)) };
}

/** Builds a link within the console; empty values are omitted. */
export function hrefOf(words, query = {}) {
  const present = Object.entries(query).filter(([, value]) => value !== '' && value !== undefined);
  const text = new URLSearchParams(present).toString();
  return `#/${words.map((word) => encodeURIComponent(word)).join('/')}${text === '' ? '' : `?${text}`}`;
}

/** Returns the current route and updates when it changes. */
export function useRoute() {
  const [route, setRoute] = useState(readRoute);
  useEffect(() => {
    const onChange = () => setRoute(readRoute());
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  return route;
}

/** Changes the query of the URL without a new history entry. */
export function setQuery(words, query) {
  history.replaceState(null, '', hrefOf(words, query));
  dispatchEvent(new HashChangeEvent('hashchange'));
}
