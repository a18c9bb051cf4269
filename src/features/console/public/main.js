import { isUnreachable, signOut } from './lib/api.js';
import { time } from './lib/format.js';
import { html, render, useCallback, useEffect, useRef, useState } from './lib/html.js';
import { setOperationPages } from './lib/operation-links.js';
import { usePaused, usePoll } from './lib/poll.js';
import { hrefOf, useRoute } from './lib/route.js';
import { Reading } from './lib/trouble.js';
/** The modules of the pages that have been opened, by the page's name. */
const modules = new Map();

/** Loads the module of a page. Returns it, or the error, and undefined while it is being loaded. */
function useModule(name) {
  const [, setLoaded] = useState({});
  const known = name === undefined ? undefined : modules.get(name);
  useEffect(() => {
    if (name === undefined || modules.get(name)?.Page !== undefined) return;
    const load = async () => {
      try {
        modules.set(name, await import(`./pages/${name}.js`));
      } catch {
        // The next visit tries again.
        modules.set(name, { error: new Error('The page could not be loaded.') });
      }
      setLoaded({});
    };
    void load();
  }, [name]);
  return known;
}

function App() {
  const route = useRoute();
  const status = usePoll('status');
  const [announcement, setAnnouncement] = useState('');
  const announce = useCallback((text) => {
    // The text is cleared first, because screen readers do not announce the same text twice in a row.
    setAnnouncement('');
    setTimeout(() => setAnnouncement(text));
  }, []);
  const [name = 'traffic', word] = route.words;
  const pages = status.data?.pages;
  setOperationPages(pages);
  const page = pages?.find((one) => one.name === name);
  const title =
    page?.title ?? (pages === undefined ? `${name.slice(0, 1).toUpperCase()}${name.slice(1)}` : 'Not found');
  const module = useModule(page?.name);
  const place = [name, word ?? ''].join('/');
  const [signedOut, setSignedOut] = useState(false);
  const isGone = isUnreachable(status.error);
  useNavigation(place, isGone ? `Not responding: ${title}` : title);
  if (signedOut)
    return html`<main class="alone">
      <h1>Signed out</h1>
      <p>The browser no longer knows the admin token.</p>
      <button type="button" onClick=${() => location.reload()}>Sign in again</button>
    </main>`;

  return html`
    <a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    <header class="top">
      <a class="brand" href="#/traffic"><img src="icon.svg" alt="" width="28" height="28" />Portico</a>
      <${Head} status=${status} onSignedOut=${() => setSignedOut(true)} />
    </header>
    <div class="frame">
      <nav aria-label="Pages">
        <ul>
          ${pages?.map(
            (one) =>
              html`<li key=${one.name}>
                <a href=${hrefOf([one.name])} aria-current=${one.name === name ? 'page' : undefined}>${one.title}</a>
              </li>`,
          )}
          <li><a href="reference">API docs</a></li>
        </ul>
      </nav>
      <main id="main" tabindex="-1" aria-label=${title} class=${isGone ? 'gone' : undefined}>
        <${ErrorNote} status=${status} isGone=${isGone} />
        <${HealthNotes} status=${status.data} />
        ${
          status.data !== undefined && page === undefined
            ? html`<${NotFound} />`
            : module?.Page === undefined
              ? html`<h1>${title}</h1>
                  <${Reading} error=${module?.error ?? status.error} shownError=${status.error?.message} />`
              : html`<${module.Page}
                  key=${place}
                  words=${route.words}
                  query=${route.query}
                  status=${status.data}
                  shownError=${status.error?.message}
                  announce=${announce}
                />`
        }
      </main>
    </div>
    <p class="unseen" role="status">${announcement}</p>
  `;
}

function Head({ status: { data, updatedAt, error }, onSignedOut }) {
  const [paused, setPaused] = usePaused();
  const [problem, setProblem] = useState('');
  const leave = () => signOut().then(onSignedOut, (failure) => setProblem(failure.message));
  return html`<div class="facts">
    ${
      data !== undefined &&
      html`${
          isUnreachable(error)
            ? html`<span class="badge bad">not responding</span>`
            : html`<span class=${`badge ${data.ready ? 'good' : 'bad'}`} title=${data.reasons.join('; ')}
                >${data.ready ? 'ready' : 'not ready'}</span
              >`
        }
        <span class="badge">mode ${data.mode}</span>
        ${data.enforced.length === 0 && html`<span class="badge warn">nothing enforced</span>`}
        ${data.pages.map(
          ({ name, notice }) =>
            notice !== undefined && html`<a key=${name} class="badge warn" href=${hrefOf([name])}>${notice}</a>`,
        )}
        ${!data.writable && html`<span class="badge" title=${data.readOnlyReason}>read-only</span>`}
        <span class="muted wide">release ${data.release}</span>`
    }
    <span class="muted" id="updated"
      >${error === undefined ? (updatedAt === undefined ? 'Loading…' : `Updated ${time(updatedAt)}`) : 'Out of date'}</span
    >
    <span class="row actions">
      <button type="button" aria-pressed=${paused} onClick=${() => setPaused(!paused)}>
        ${paused ? 'Paused' : 'Pause'}
      </button>
      ${data?.writable && html`<button type="button" onClick=${leave}>Sign out</button>`}
    </span>
    ${problem !== '' && html`<span class="bad" role="alert">${problem}</span>`}
  </div>`;
}

function HealthNotes({ status }) {
  if (status === undefined) return null;
  const { ready, reasons, upstream, shared } = status;
  return html`${!ready && html`<p class="note bad" role="status">Not ready: ${reasons.join('; ')}</p>`}
  ${
    upstream.status !== 'healthy' &&
    html`<p class=${`note ${upstream.status === 'failing' ? 'bad' : ''}`} role="status">
      The upstream is ${upstream.status}: ${upstream.reasons.join('; ')}
    </p>`
  }${
    shared?.available === false &&
    html`<p class="note" role="status">
      Redis is unavailable: this gateway shares nothing with the others. Last in sync
      ${Math.round(shared.unsyncedSeconds)} seconds ago.
    </p>`
  }`;
}

function ErrorNote({ status: { error, updatedAt, failedAt }, isGone }) {
  if (error === undefined) return null;
  const signIn =
    error.status === 401
      ? html` <button type="button" onClick=${() => location.reload()}>Sign in again</button>`
      : null;
  const since = isGone ? ` It has not responded since ${time(failedAt)}. The console keeps trying.` : '';
  const age = isGone && updatedAt !== undefined ? ` This page shows its state at ${time(updatedAt)}.` : '';
  return html`<div class="note bad" role="alert"><span>${error.message}</span>${since}${age}${signIn}</div>`;
}

function NotFound() {
  return html`<h1>Not found</h1>
    <p>This page does not exist. <a href="#/traffic">Go to Traffic</a></p>`;
}

function skip(event) {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

/** Sets the title when the page changes and moves the focus to the content, as browsers do when loading a new page. */
function useNavigation(place, title) {
  const first = useRef(true);
  useEffect(() => {
    document.title = `${title} · Portico`;
  }, [title]);
  useEffect(() => {
    if (!first.current) {
      document.getElementById('main')?.focus();
      scrollTo(0, 0);
    }
    first.current = false;
    // On a phone, the list of pages is wider than the screen, so the current page's link is scrolled into view.
    document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [place]);
}

const app = /** @type {HTMLElement} */ (document.getElementById('app'));
app.replaceChildren();
render(html`<${App} />`, app);
