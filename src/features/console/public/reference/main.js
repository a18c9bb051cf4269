import { get, isUnreachable } from '../lib/api.js';
import { html, render, useEffect, useState } from '../lib/html.js';
import { usePoll } from '../lib/poll.js';
import { setOperationPages } from '../lib/operation-links.js';
import { matches } from './filter.js';
import { Operation } from './operation.js';
import { Prose } from './prose.js';

function App() {
  const [contract, setContract] = useState(/** @type {any} */ (undefined));
  const [error, setError] = useState(/** @type {import('../lib/api.js').ApiError | undefined} */ (undefined));
  const [text, setText] = useState('');
  // The credential is stored only in this page and is discarded when the page is closed.
  const [credential, setCredential] = useState({ name: '', password: '' });
  useEffect(() => readWithRetry(setContract, setError), []);
  const { error: lost } = usePoll('status');
  const isGone = contract !== undefined && isUnreachable(lost);
  useDeepLinks(contract !== undefined);
  const groups = (contract?.groups ?? [])
    .map(({ name, description, operations }) => ({
      name,
      description,
      operations: operations.filter((one) => matches(one, text)),
    }))
    .filter((group) => group.operations.length > 0);
  const found = groups.reduce((sum, group) => sum + group.operations.length, 0);

  return html`
    <a class="skip" href="#page-content" onClick=${skip}>Skip to the content</a>
    <header class="top">
      <a class="brand" href="./"><img src="icon.svg" alt="" width="28" height="28" />Portico</a>
      <span class="muted">API docs</span>
      <div class="facts">
        ${isGone && html`<span class="badge bad">not responding</span>`}
        ${contract !== undefined && html`<span class="muted">contract ${contract.version}</span>`}
        <a href="./">Console</a>
      </div>
    </header>
    <div class="frame reference">
      <nav aria-label="Operations">
        <label class="field" for="search-words">
          <span>Search</span>
          <input
            id="search-words"
            type="search"
            autocomplete="off"
            value=${text}
            onInput=${(event) => setText(event.currentTarget.value)}
          />
        </label>
        <p class="muted" role="status">
          ${contract === undefined ? '' : `${found} ${found === 1 ? 'operation' : 'operations'}`}
        </p>
        ${groups.map(
          ({ name, operations }) =>
            html`<section key=${name} aria-label=${name}>
              <h2>${name}</h2>
              <ul>
                ${operations.map(
                  ({ id, method }) =>
                    html`<li key=${id}>
                      <a href=${`#${id}`}><small>${method}</small> ${id}</a>
                    </li>`,
                )}
              </ul>
            </section>`,
        )}
      </nav>
      <main id="page-content" tabindex="-1">
        <h1>${contract?.title ?? 'API docs'}</h1>
        ${(error ?? (isGone && lost)) && html`<div class="note bad" role="alert">${(error ?? lost)?.message}</div>`}
        ${contract === undefined && error === undefined && html`<p class="muted">Loading the contract…</p>`}
        ${
          contract !== undefined &&
          html`<${Prose} text=${contract.description} />
            <p class="muted">
              Clients log in with ${contract.schemes.join(' or ')} in the <code>Authorization</code>
              header.${contract.schemes.includes('Bearer') && ' A token that this gateway has issued is also accepted as the password of Basic.'}
            </p>
            <${Credential} credential=${credential} onChange=${setCredential} />
            ${found === 0 && html`<p class="empty">No operations match this search.</p>`}
            ${groups.map(
              (group) =>
                html`<section key=${group.name} aria-label=${`Operations: ${group.name}`}>
                  <h2 class="group">${group.name}</h2>
                  <p class="muted">${group.description}</p>
                  ${group.operations.map(
                    (operation) =>
                      html`<${Operation}
                        key=${operation.id}
                        operation=${operation}
                        contract=${contract}
                        credential=${credential}
                      />`,
                  )}
                </section>`,
            )}`
        }
      </main>
    </div>
  `;
}

const RETRY_MS = 3000;

/** Reads the contract. Retries while the gateway is unreachable, and stops if access is denied. */
function readWithRetry(onRead, onError) {
  let timer;
  const read = async () => {
    try {
      const contract = await get('contract');
      setOperationPages(contract.pages);
      onRead(contract);
      onError(undefined);
    } catch (error) {
      onError(error);
      if (![401, 403, 404].includes(/** @type {import('../lib/api.js').ApiError} */ (error).status))
        timer = setTimeout(read, RETRY_MS);
    }
  };
  void read();
  return () => clearTimeout(timer);
}

function Credential({ credential, onChange }) {
  const field = (name, type) =>
    html`<label for=${`credential-${name}`}>
      <span>${name === 'name' ? 'Name' : 'Password'}</span>
      <input
        id=${`credential-${name}`}
        type=${type}
        autocomplete="off"
        value=${credential[name]}
        onInput=${(event) => onChange({ ...credential, [name]: event.currentTarget.value })}
      />
    </label>`;
  return html`<section class="card" aria-labelledby="credential-title">
    <h2 id="credential-title">Sign in to try requests</h2>
    <p class="muted">
      The credential is sent to the gateway with each request below. It is stored only in this page and discarded when
      you leave the page.
    </p>
    <form class="filters" onSubmit=${(event) => event.preventDefault()}>
      ${field('name', 'text')} ${field('password', 'password')}
    </form>
  </section>`;
}

/** Scrolls to the operation in the URL after the page has loaded and whenever the URL changes. */
function useDeepLinks(ready) {
  useEffect(() => {
    if (!ready) return undefined;
    const show = () => {
      // Operation ids consist only of letters, unlike all other ids on the page.
      const place = document.getElementById(location.hash.slice(1));
      place?.scrollIntoView();
      place?.querySelector('h3')?.focus({ preventScroll: true });
    };
    show();
    addEventListener('hashchange', show);
    return () => removeEventListener('hashchange', show);
  }, [ready]);
}

function skip(event) {
  event.preventDefault();
  document.getElementById('page-content')?.focus();
}

const app = /** @type {HTMLElement} */ (document.getElementById('page-root'));
app.replaceChildren();
render(html`<${App} />`, app);
