import { post } from '../lib/api.js';
import { Confirm } from '../lib/confirm.js';
import { plural } from '../lib/format.js';
import { html, useState } from '../lib/html.js';
import { usePoll } from '../lib/poll.js';
import { changeQuery } from '../lib/route.js';
import { SearchField } from '../lib/search-field.js';
import { Table } from '../lib/table.js';
import { Reading, Trouble } from '../lib/trouble.js';
import { wrappedJson } from '../lib/wrapped.js';

const ORIGINS = { file: 'good', environment: 'warn', flag: 'warn', default: '' };

const choose = (change) => changeQuery(['configuration'], change);

/** The result of the last reload: what changed, or all the reasons why it was refused. */
function ReloadResult({ result }) {
  if (result === undefined) return null;
  if (result.outcome === 'applied')
    return html`<div class="note good">
      <p>The configuration was reloaded${result.changed.length === 0 ? '; nothing has changed.' : '. Changed:'}</p>
      ${
        result.changed.length > 0 &&
        html`<ul>
          ${result.changed.map((name) => html`<li key=${name}><code>${name}</code></li>`)}
        </ul>`
      }
    </div>`;
  return html`<div class="note bad" role="alert">
    <p>
      The reload was refused, and the previous configuration stays in use: ${plural(result.faults.length, 'error')}.
    </p>
    <ul>
      ${result.faults.map(
        ({ source, pointer, message, suggestion }) =>
          html`<li key=${`${source} ${pointer} ${message}`}>
            <code>${pointer === '' ? source : `${source} ${pointer}`}</code
            >${' '}${message}${suggestion && ` (${suggestion})`}
          </li>`,
      )}
    </ul>
  </div>`;
}

/**
 * The page that shows all keys in the effective configuration and where each value comes from, with a button for
 * reloading the configuration.
 */
export function Page({ query, status, shownError, announce }) {
  const { data, error, refresh } = usePoll('configuration');
  const [reloading, setReloading] = useState(/** @type {'asking' | 'running' | undefined} */ (undefined));
  const [result, setResult] = useState(/** @type {any} */ (undefined));
  const [problem, setProblem] = useState(/** @type {import('../lib/api.js').ApiError | undefined} */ (undefined));
  const reason = status.readOnlyReason;
  const reload = async () => {
    setReloading('running');
    try {
      const done = await post('configuration/reload', {});
      setResult(done);
      setProblem(undefined);
      announce(done.outcome === 'applied' ? 'The configuration was reloaded.' : 'The reload was refused.');
    } catch (failure) {
      setProblem(/** @type {import('../lib/api.js').ApiError} */ (failure));
    }
    setReloading(undefined);
    refresh();
  };
  if (data === undefined)
    return html`<h1>Configuration</h1>
      <${Reading} error=${error} shownError=${shownError} />`;
  const { text = '', origin = '' } = query;
  const search = text.toLowerCase();
  const rows = data.rows.filter(
    (row) => (origin === '' || row.origin === origin) && `${row.key} ${row.value}`.toLowerCase().includes(search),
  );
  return html`
    <div class="heading">
      <h1>Configuration</h1>
      <div class="row">
        <button
          type="button"
          disabled=${reason !== undefined}
          aria-describedby="why"
          onClick=${() => setReloading('asking')}
        >
          Reload
        </button>
      </div>
    </div>
    <p id="why" class="muted">
      ${
        reason ??
        'A reload rereads the configuration, the contract, the roles file and the baseline, and uses them for new requests.'
      }
    </p>
    <${Trouble} error=${problem ?? error} shownError=${shownError} />
    <${ReloadResult} result=${result} />
    <p class="muted">The effective configuration. It was read from <code>${data.file}</code>; secrets are masked.</p>
    <form class="filters card" role="search" aria-label="Configuration" onSubmit=${(event) => event.preventDefault()}>
      <label>
        <span>Origin</span>
        <select value=${origin} onChange=${(event) => choose({ origin: event.currentTarget.value })}>
          <option value="">any</option>
          ${Object.keys(ORIGINS).map((name) => html`<option value=${name} key=${name}>${name}</option>`)}
        </select>
      </label>
      <${SearchField} value=${text} placeholder="cache.fresh" onText=${(given) => choose({ text: given })} />
    </form>
    <p class="muted" role="status">${plural(rows.length, 'key')}</p>
    <${Table}
      caption="Configuration"
      kind="cards keys"
      rows=${rows}
      keyOf=${(row) => row.key}
      empty="No keys match these filters."
      columns=${[
        { title: 'Key', head: true, cell: (row) => html`<code>${row.key}</code>` },
        {
          title: 'Value',
          cell: (row) =>
            row.secret
              ? html`<span><span aria-hidden="true">${row.value}</span> <small class="muted">secret</small></span>`
              : html`<code class="value">${wrappedJson(row.value)}</code>`,
        },
        {
          title: 'Origin',
          cell: (row) =>
            html`<span class=${`badge ${ORIGINS[row.origin]}`}>${row.origin}</span>${
                row.source && html` <small class="muted">${row.source}</small>`
              }`,
        },
      ]}
    />
    ${
      reloading !== undefined &&
      html`<${Confirm}
        title="Reload the configuration?"
        text="If it contains errors, nothing changes, and the errors are shown here. Requests in progress finish with the current configuration."
        action="Reload"
        busy=${reloading === 'running'}
        onConfirm=${reload}
        onClose=${() => setReloading(undefined)}
      />`
    }
  `;
}
