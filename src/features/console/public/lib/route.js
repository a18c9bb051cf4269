import { useEffect, useState } from './html.js';

/** Parses the part of the URL after `#`. Returns the path's segments and the query's values. */
export function readRoute(hash = location.hash) {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const words = path.split('/').filter((word) => word !== '');
  return { words, query: Object.fromEntries(new URLSearchParams(query)) };
}

/** Returns a link to a console page. Empty values are omitted. */
export function hrefOf(words, query = {}) {
  const present = Object.entries(query).filter(([, value]) => value !== '' && value !== undefined);
  const text = new URLSearchParams(present).toString();
  return `#/${words.map((word) => encodeURIComponent(word)).join('/')}${text === '' ? '' : `?${text}`}`;
}

/** Returns the current route. The component is rerendered when the route changes. */
export function useRoute() {
  const [route, setRoute] = useState(readRoute);
  useEffect(() => {
    const onChange = () => setRoute(readRoute());
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  return route;
}

/**
 * Changes some of the query values in the URL. The other values are read from the URL, because a component that has not
 * been rerendered since the last change still has the old ones.
 */
export function changeQuery(words, change) {
  setQuery(words, { ...readRoute().query, ...change });
}

/** Replaces the query in the URL without adding a history entry. */
export function setQuery(words, query) {
  history.replaceState(null, '', hrefOf(words, query));
  dispatchEvent(new HashChangeEvent('hashchange'));
}
