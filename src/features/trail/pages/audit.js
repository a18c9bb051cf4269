import { dateTime, NONE, plural } from '../lib/format.js';
import { html } from '../lib/html.js';
import { usePoll } from '../lib/poll.js';
import { changeQuery } from '../lib/route.js';
import { SearchField } from '../lib/search-field.js';
import { Table } from '../lib/table.js';
import { Reading, Trouble } from '../lib/trouble.js';

const OUTCOMES = { done: 'good', refused: 'warn', failed: 'bad' };

const choose = (change) => changeQuery(['audit'], change);

/** The page that lists every change that was made or refused on the admin side, newest first. */
export function Page({ query, shownError }) {
  const { data, error } = usePoll('audit');
  if (data === undefined)
    return html`<h1>Audit</h1>
      <${Reading} error=${error} shownError=${shownError} />`;
  const { text = '', action = '', outcome = '' } = query;
  const search = text.toLowerCase();
  const rows = data.entries.filter(
    (row) =>
      (action === '' || row.action === action) &&
      (outcome === '' || row.outcome === outcome) &&
      JSON.stringify(row).toLowerCase().includes(search),
  );
  const actions = [...new Set(data.entries.map((row) => row.action))].toSorted((a, b) => a.localeCompare(b));
  return html`
    <h1>Audit</h1>
    <p class="muted">
      Every change on the admin side, whether it was made or refused: the latest ${data.shown} entries, newest first.
    </p>
    <${Trouble} error=${error} shownError=${shownError} />
    <form class="filters card" role="search" aria-label="Audit" onSubmit=${(event) => event.preventDefault()}>
      ${select('action', 'Action', action, actions)} ${select('outcome', 'Outcome', outcome, Object.keys(OUTCOMES))}
      <${SearchField} value=${text} placeholder="listQuestions" onText=${(given) => choose({ text: given })} />
    </form>
    <p class="muted" role="status">${plural(rows.length, 'entry', 'entries')}</p>
    <${Table}
      caption="Audit trail"
      kind="cards"
      rows=${rows}
      keyOf=${(row) => JSON.stringify(row)}
      empty=${data.entries.length === 0 ? 'Nothing has been changed yet.' : 'No entries match these filters.'}
      columns=${[
        { title: 'Time', head: true, sort: (row) => Date.parse(row.at), cell: (row) => dateTime(Date.parse(row.at)) },
        { title: 'Action', sort: (row) => row.action, cell: (row) => row.action },
        {
          title: 'Outcome',
          sort: (row) => row.outcome,
          cell: (row) =>
            html`<span class=${`badge ${OUTCOMES[row.outcome]}`}>${row.outcome}</span>${
                row.reason && html` <small>${row.reason}</small>`
              }${row.omitted && html` <small>(${plural(row.omitted, 'earlier refusal')} not listed)</small>`}`,
        },
        { title: 'Subject', cell: (row) => factsOf(row.subject) },
        {
          title: 'Change',
          cell: (row) =>
            [row.before, row.after]
              .filter((state) => state !== undefined)
              .map((state) => factsOf(state, row))
              .join(' → ') || NONE,
        },
        {
          title: 'Who',
          sort: (row) => row.actor,
          cell: (row) => (row.by === undefined ? row.actor : `${row.by} (${row.actor})`),
        },
        {
          title: 'From',
          cell: (row) =>
            [row.from, row.way, row.gateway && `gateway ${row.gateway}`]
              .filter((part) => part !== undefined)
              .join(', '),
        },
      ]}
    />
  `;
}

/** A filter that offers the values that a column can have. */
function select(name, label, chosen, values) {
  return html`<label>
    <span>${label}</span>
    <select value=${chosen} onChange=${(event) => choose({ [name]: event.currentTarget.value })}>
      <option value="">any</option>
      ${values.map((value) => html`<option value=${value} key=${value}>${value}</option>`)}
    </select>
  </label>`;
}

/** The members of an override that repeat other columns of its entry. */
const REPEATED = new Set(['operation', 'by', 'from', 'setAt']);

/** Describes the members of an object in one line, without those that the entry shows elsewhere. */
function factsOf(facts = {}, { action = '' } = {}) {
  const isOverride = action.startsWith('override ');
  const parts = Object.entries(facts).flatMap(([name, value]) => {
    if (isOverride && REPEATED.has(name)) return [];
    const shown = Array.isArray(value)
      ? value.join(', ')
      : name === 'until'
        ? dateTime(Date.parse(value))
        : String(value);
    return [`${name} ${shown === '' ? 'none' : shown}`];
  });
  return parts.join('; ') || NONE;
}
