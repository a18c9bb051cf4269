import { post } from '../lib/api.js';
import { html, useEffect, useState } from '../lib/html.js';
import { usePoll } from '../lib/poll.js';
import { setQuery } from '../lib/route.js';
import { Table } from '../lib/table.js';
import { Reading, Trouble } from '../lib/trouble.js';
import { wrappedPath } from '../lib/wrapped.js';

const MARKS = {
  allowed: ['✓', 'allowed', 'good'],
  own: ['own', 'own nodes only', 'warn'],
  denied: ['–', 'denied', ''],
  delegated: ['up', 'decided by the upstream', ''],
};

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/**
 * The page that shows the permissions of roles and accounts by operation. It also explains how individual requests are
 * handled.
 */
export function Page({ query, shownError }) {
  const { data, error } = usePoll('permissions');
  return html`
    <h1>Permissions</h1>
    <section class="card" aria-labelledby="explain">
      <h2 id="explain">Explain a decision</h2>
      <p class="muted">
        Shows what would happen to a request, without sending it to the upstream. The same code handles live traffic.
      </p>
      <${Explain} query=${query} accounts=${namesOf(data, 'account')} reachable=${error === undefined} />
    </section>
    ${
      data === undefined
        ? html`<${Reading} error=${error} shownError=${shownError} />`
        : html`<${Trouble} error=${error} shownError=${shownError} />
            <p class="legend muted">
              ${Object.values(MARKS).map(
                ([mark, meaning, tone]) =>
                  html`<span key=${meaning}
                    ><b class=${`mark ${tone}`} aria-hidden="true">${mark}</b> ${meaning}</span
                  >`,
              )}
            </p>
            <h2>Roles</h2>
            <${Matrix} matrix=${data} kind="role" caption="Permissions of each role" />
            <h2>Accounts</h2>
            <${Matrix} matrix=${data} kind="account" caption="Permissions of each account" />`
    }
  `;
}

function namesOf(matrix, kind) {
  return (matrix?.subjects ?? []).filter((subject) => subject.kind === kind).map(({ name }) => name);
}

function Matrix({ matrix, kind, caption }) {
  const places = matrix.subjects.flatMap((subject, index) => (subject.kind === kind ? [[subject.name, index]] : []));
  return html`<${Table}
    caption=${caption}
    kind="matrix turned"
    rows=${matrix.rows}
    keyOf=${(row) => row.operation}
    columns=${[
      {
        title: 'Operation',
        head: true,
        cell: (row) => html`${row.operation} <small class="path">${row.method} ${wrappedPath(row.path)}</small>`,
      },
      ...places.map(([name, index]) => {
        return { title: name, cell: (row) => html`<${Mark} value=${row.cells[index]} />` };
      }),
    ]}
  />`;
}

function Mark({ value }) {
  const [mark, meaning, tone] = MARKS[value];
  return html`<span class=${`mark ${tone}`} title=${meaning}
    ><span aria-hidden="true">${mark}</span><span class="unseen">${meaning}</span></span
  >`;
}

function Explain({ query, accounts, reachable }) {
  const [result, setResult] = useState(/** @type {any} */ (undefined));
  const { method = '', target = '', as = '' } = query;
  // The body can contain personal data, so it does not become part of the address.
  const [body, setBody] = useState('');
  const submit = (event) => {
    event.preventDefault();
    const { body: written, ...shared } = Object.fromEntries(new FormData(event.currentTarget));
    setBody(/** @type {string} */ (written));
    setQuery(['permissions'], shared);
  };
  useEffect(() => {
    if (target === '') return undefined;
    const reading = new AbortController();
    post('explain', { method, target, as, body }, reading.signal)
      .then((found) => setResult(found))
      .catch((error) => reading.signal.aborted || setResult({ error }));
    return () => reading.abort();
    // The explanation is also requested again when the connection to the gateway is restored.
  }, [method, target, as, body, reachable]);
  const wrong = result?.error?.field;
  return html`<form class="filters" onSubmit=${submit}>
      <label>
        <span>Method</span>
        <select name="method">
          ${[...new Set([...METHODS, method || 'GET'])].map(
            (name) => html`<option key=${name} value=${name} selected=${name === method}>${name}</option>`,
          )}
        </select>
      </label>
      <label class="grow">
        <span>Target</span>
        <input
          name="target"
          required
          spellcheck="false"
          autocomplete="off"
          defaultValue=${target}
          placeholder="/services/v2/question.json?page=2"
          aria-invalid=${wrong === 'target' ? 'true' : undefined}
          aria-describedby=${wrong === undefined ? undefined : 'explain-problem'}
        />
      </label>
      <label>
        <span>Account</span>
        <input
          name="as"
          list="accounts"
          spellcheck="false"
          autocomplete="off"
          defaultValue=${as}
          placeholder="anonymous"
        />
        <datalist id="accounts">${accounts.map((name) => html`<option key=${name} value=${name}></option>`)}</datalist>
      </label>
      <label class="whole">
        <span>JSON body (optional; not part of this page’s address)</span>
        <textarea name="body" rows="2" spellcheck="false" placeholder=${'{"body": "a comment"}'}></textarea>
      </label>
      <button type="submit" class="primary">Explain</button>
    </form>
    <div role="status" id="explained">
      ${result?.error && html`<p class="note bad" id="explain-problem">${result.error.message}</p>`}
      ${
        result?.lines &&
        html`<dl class="facts lines">
          ${result.lines.map((line, index) => {
            const [name, ...rest] = line.split(':');
            return html`<div key=${index} class=${name === 'verdict' ? 'verdict' : undefined}>
              <dt>${name}</dt>
              <dd>${rest.join(':').trim()}</dd>
            </div>`;
          })}
        </dl>`
      }
    </div>`;
}
