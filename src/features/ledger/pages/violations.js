import { withQuery } from '../lib/api.js';
import { age, count, NONE, percent, plural } from '../lib/format.js';
import { html } from '../lib/html.js';
import { usePoll } from '../lib/poll.js';
import { changeQuery, hrefOf } from '../lib/route.js';
import { SearchField } from '../lib/search-field.js';
import { Table } from '../lib/table.js';
import { Reading, Trouble } from '../lib/trouble.js';
import { Violation } from './violation.js';
import { Hours, levelOf, stateOf } from './violation-cells.js';

/** @type {readonly (readonly [name: string, label: string])[]} */
const FILTERS = [
  ['state', 'State'],
  ['category', 'Category'],
  ['direction', 'Direction'],
  ['operation', 'Operation'],
  ['check', 'Check'],
];

/** The sort orders in the form. Other sort orders are available in the table header. */
const ORDERS = [
  ['impact', 'impact'],
  ['count', 'most frequent'],
  ['share', 'highest share'],
  ['callers', 'most callers'],
  ['first', 'newest'],
  ['last', 'last seen'],
];

const choose = (change) => changeQuery(['violations'], { page: '', ...change });

/** Opens the cause of a violation, and closes the one that was open. An empty fingerprint opens none. */
const open = (fingerprint) => changeQuery(['violations'], { open: fingerprint });

/** The page that lists the violations in the ledger, or shows one of them. */
export function Page(props) {
  return props.words[1] === undefined ? html`<${Violations} ...${props} />` : html`<${Violation} ...${props} />`;
}

/** Lists the violations by cause, with filters. */
function Violations({ query, status, shownError }) {
  const { data: fresh, stale, error } = usePoll(withQuery('violations', query));
  const data = fresh ?? stale;
  return html`
    <div class="heading">
      <h1>Violations</h1>
      <p class="muted">Distinct differences between the traffic and the contract, by cause.</p>
    </div>
    <form class="filters card" role="search" aria-label="Violations" onSubmit=${(event) => event.preventDefault()}>
      ${FILTERS.map(
        ([name, label]) =>
          html`<label key=${name}>
            <span>${label}</span>
            <select value=${query[name] ?? ''} onChange=${(event) => choose({ [name]: event.currentTarget.value })}>
              <option value="">any</option>
              ${choicesOf(data?.facets[name], query[name]).map(
                ([value, found]) => html`<option value=${value} key=${value}>${value} (${found})</option>`,
              )}
            </select>
          </label>`,
      )}
      ${
        (data?.releases.length ?? 0) > 1 &&
        html`<label>
          <span>Release</span>
          <select value=${query.release ?? ''} onChange=${(event) => choose({ release: event.currentTarget.value })}>
            <option value="">any</option>
            ${data.releases.map((release) => html`<option value=${release} key=${release}>${release}</option>`)}
          </select>
        </label>`
      }
      ${
        (data?.replicas.length ?? 0) > 1 &&
        html`<label>
          <span>Gateway, last 48 h</span>
          <select value=${query.replica ?? ''} onChange=${(event) => choose({ replica: event.currentTarget.value })}>
            <option value="">any</option>
            ${data.replicas.map((replica) => html`<option value=${replica} key=${replica}>${replica}</option>`)}
          </select>
        </label>`
      }
      <label>
        <span>Sorted by</span>
        <select
          value=${data?.sort ?? 'impact'}
          onChange=${(event) => choose({ sort: event.currentTarget.value, order: '' })}
        >
          ${ORDERS.map(([name, label]) => html`<option value=${name} key=${name}>${label}</option>`)}
          ${
            !ORDERS.some(([name]) => name === (data?.sort ?? 'impact')) &&
            html`<option value=${data.sort}>${data.sort}</option>`
          }
        </select>
      </label>
      <${SearchField}
        value=${query.text ?? ''}
        placeholder="place, rule or message"
        onText=${(given) => choose({ text: given })}
      />
      ${
        Object.entries(query).some(([name, value]) => name !== 'open' && value !== '') &&
        html`<a class="button" href=${hrefOf(['violations'])}>Clear</a>`
      }
    </form>
    ${status.readOnlyReason && html`<p class="muted">${status.readOnlyReason}</p>`}
    ${
      data === undefined
        ? html`<${Reading} error=${error} shownError=${shownError} />`
        : html`<${Trouble} error=${error} shownError=${shownError} /><${List}
              data=${data}
              query=${query}
              now=${status.now}
              steady=${fresh === undefined ? undefined : JSON.stringify(query)}
            />`
    }
  `;
}

function List({ data, query, now, steady }) {
  const total =
    data.total === data.all
      ? plural(data.total, 'violation')
      : `${count(data.total)} of ${plural(data.all, 'violation')}`;
  const sameCause = data.causes < data.total ? ` with ${plural(data.causes, 'cause')}` : '';
  return html`
    <p role="status" class="muted" id="found">
      ${total}${sameCause}${data.dropped > 0 ? `; the ledger dropped ${count(data.dropped)} more because it was full or could not be written` : ''}
    </p>
    <${Table}
      caption="Violations"
      kind="cards dense"
      steady=${steady}
      sorting=${{ by: data.sort, down: data.order === 'down', choose: (sort, down) => choose({ sort, order: down ? '' : 'up' }) }}
      rows=${data.rows.flatMap((row) => (isOpen(row) ? [row, ...row.members] : [row]))}
      keyOf=${(row) => row.cause ?? `member ${row.fingerprint}`}
      classOf=${(row) => (row.cause === undefined ? 'member' : isOpen(row) ? 'opened' : undefined)}
      empty=${data.all === 0 ? 'No violations so far.' : 'No violations match these filters.'}
      columns=${[
        { title: 'Violation', head: true, sortedBy: 'violation', cell: named },
        { title: 'Operation', sortedBy: 'operation', cell: operationOf },
        { title: 'Category', sortedBy: 'category', cell: (row) => html`<span class="badge">${row.category}</span>` },
        { title: 'Level', cell: levelOf },
        { title: 'State', sortedBy: 'state', cell: stateOf },
        { title: 'Last 24 h', cell: (row) => html`<${Hours} history=${row.history} />` },
        { title: 'Seen', number: true, sortedBy: 'count', cell: (row) => count(row.count) },
        { title: 'Share', number: true, sortedBy: 'share', cell: (row) => percent(row.share) },
        {
          title: 'First seen',
          number: true,
          sortedBy: 'first',
          cell: (row) =>
            html`${ageOf(row.firstSeenAt, now)}
              <small class="path release" title=${row.history?.firstRelease}
                >${row.history?.firstRelease ?? NONE}</small
              >`,
        },
        { title: 'Last', number: true, sortedBy: 'last', cell: (row) => ageOf(row.lastSeenAt, now) },
      ]}
    />
    ${data.pageCount > 1 && html`<${Pages} data=${data} query=${query} />`}
  `;
}

/** Returns true if a row is a cause whose violations follow it. A cause with one violation looks like that violation. */
const isOpen = ({ violations, members }) => violations > 1 && members !== undefined;

function named(row) {
  if (row.violations > 1) {
    const opened = isOpen(row);
    return html`<span class="block">${row.message}</span>
      <small class="path">${row.direction} · ${row.keyword}</small>
      <button
        type="button"
        class="fold"
        aria-expanded=${String(opened)}
        onClick=${() => open(opened ? '' : row.fingerprint)}
      >
        ${plural(row.violations, 'violation')}<span class="unseen"> with one cause: ${row.message}</span>
      </button>`;
  }
  const href = hrefOf(['violations', row.fingerprint]);
  // The row of the cause, above, shows what the violations have in common.
  if (row.cause === undefined)
    return html`<a class="block" href=${href}
      >${row.direction} ${placeOf(row)}<span class="unseen"> of ${row.operation ?? 'undocumented paths'}</span></a
    >`;
  return html`<a class="block" href=${href}>${row.message}</a>
    <small class="path">${row.direction} ${placeOf(row)} · ${row.keyword}</small>`;
}

const ageOf = (at, now) => age(Math.max(0, (now - at) / 1000));

function operationOf({ operation, operations = 1 }) {
  if (operations > 1) return plural(operations, 'operation');
  if (operation === undefined) return 'not in the contract';
  return html`<a class="block" href=${hrefOf(['traffic'], { operation })}>${operation}</a>`;
}

/** Returns a violation's location. For a denial, this is the missing permission. */
function placeOf({ keyword, location, at }) {
  if (keyword === 'permission-denied') return at === '' ? '' : `requires ${at}`;
  return at === '' ? location : `${location} ${at}`;
}

function Pages({ data: { page, pageCount }, query }) {
  const link = (to, label) =>
    to < 1 || to > pageCount
      ? html`<span class="button" aria-disabled="true">${label}</span>`
      : html`<a class="button" href=${hrefOf(['violations'], { ...query, page: String(to) })}>${label}</a>`;
  return html`<nav class="row" aria-label="Pages of violations">
    ${link(page - 1, 'Previous')}<span>Page ${page} of ${pageCount}</span>${link(page + 1, 'Next')}
  </nav>`;
}

// The selected value stays in the list even when no row has it.
function choicesOf(found = {}, chosen = '') {
  const all = chosen === '' || Object.hasOwn(found, chosen) ? found : { ...found, [chosen]: 0 };
  return Object.entries(all).toSorted(([a], [b]) => a.localeCompare(b));
}
