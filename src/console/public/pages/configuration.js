import { plural } from '../lib/format.js';
import { html } from '../lib/html.js';
import { usePoll } from '../lib/poll.js';
import { changeQuery } from '../lib/route.js';
import { Table } from '../lib/table.js';
import { Reading, Trouble } from '../lib/trouble.js';

const ORIGINS = { file: 'good', environment: 'warn', flag: 'warn', default: '' };

const choose = (change) => changeQuery(['configuration'], change);

/** The page that shows all keys in the effective configuration, with the origin of each value. */
export function ConfigurationPage({ query, shownError }) {
  const { data, error } = usePoll('configuration');
  if (data === undefined)
    return html`<h1>Configuration</h1>
      <${Reading} error=${error} shownError=${shownError} />`;
  const { text = '', origin = '' } = query;
  const search = text.toLowerCase();
  const rows = data.rows.filter(
    (row) => (origin === '' || row.origin === origin) && `${row.key} ${row.value}`.toLowerCase().includes(search),
  );
  return html`
    <h1>Configuration</h1>
    <${Trouble} error=${error} shownError=${shownError} />
    <p class="muted">
      The effective configuration since startup. It was read from <code>${data.file}</code>; secrets are masked.
    </p>
    <form class="filters card" role="search" aria-label="Configuration" onSubmit=${(event) => event.preventDefault()}>
      <label>
        <span>Origin</span>
        <select value=${origin} onChange=${(event) => choose({ origin: event.currentTarget.value })}>
          <option value="">any</option>
          ${Object.keys(ORIGINS).map((name) => html`<option value=${name} key=${name}>${name}</option>`)}
        </select>
      </label>
      <label class="grow">
        <span>Text</span>
        <input
          type="search"
          value=${text}
          placeholder="cache.fresh"
          onInput=${(event) => choose({ text: event.currentTarget.value })}
        />
      </label>
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
              : html`<code class="value">${row.value}</code>`,
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
  `;
}
