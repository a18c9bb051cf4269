import { age, count, NONE, plural } from '../lib/format.js';
import { html } from '../lib/html.js';
import { usePoll } from '../lib/poll.js';
import { Table } from '../lib/table.js';
import { Reading, Trouble } from '../lib/trouble.js';

/** The properties that should be the same for all gateways. */
const AGREED = ['version', 'contract', 'configuration', 'baseline'];
/**
 * Gateways report every five seconds. A gateway that has not reported for this long has failed or cannot reach Redis.
 */
const SILENT_SECONDS = 7;

/** The page that lists the gateways that share state, each with its counts. */
export function Page({ status, shownError }) {
  const { data, error } = usePoll('fleet');
  if (data === undefined)
    return html`<h1>Fleet</h1>
      <${Reading} error=${error} shownError=${shownError} />`;
  const { instances, replicas, hours } = data;
  const usual = Object.fromEntries(AGREED.map((name) => [name, mostCommon(instances.map((one) => one[name]))]));
  const differing = AGREED.filter((name) => instances.some((one) => one[name] !== usual[name]));
  const marked = (row, name) => (row[name] === usual[name] ? undefined : 'bad');
  return html`
    <h1>Fleet</h1>
    <${Trouble} error=${error} shownError=${shownError} />
    ${differing.length > 0 && html`<p class="note bad">The gateways differ in: ${differing.join(', ')}.</p>`}
    <h2>Gateways</h2>
    <${Table}
      caption="Gateways that share state"
      kind="cards"
      rows=${instances}
      keyOf=${(row) => `${row.name} ${row.startedAt}`}
      empty="Redis is unavailable, so the other gateways are not known."
      columns=${[
        { title: 'Gateway', head: true, cell: (row) => html`<code>${row.name}</code>` },
        {
          title: 'State',
          cell: (row) => {
            if (row.silentSeconds > SILENT_SECONDS) return html`<span class="bad">silent</span>`;
            return row.ready ? html`<span class="good">ready</span>` : html`<span class="bad">not ready</span>`;
          },
        },
        { title: 'Mode', cell: (row) => row.mode },
        { title: 'Version', cell: (row) => html`<span class=${marked(row, 'version')}>${row.version}</span>` },
        ...['contract', 'configuration', 'baseline'].map((name) => ({
          title: name.charAt(0).toUpperCase() + name.slice(1),
          cell: (row) => html`<code class=${marked(row, name)}>${row[name]}</code>`,
        })),
        { title: 'Started', number: true, cell: (row) => ago(status.now - row.startedAt) },
        { title: 'Last report', number: true, cell: (row) => ago(row.silentSeconds * 1000) },
      ]}
    />
    <h2>Counts</h2>
    <p class="muted">${plural(hours, 'hour')} until now, from the shared ledger.</p>
    <${Table}
      caption="Requests and violations by gateway"
      kind="cards"
      rows=${replicas}
      keyOf=${(row) => row.replica}
      empty="The ledger is not shared, or nothing has been counted yet."
      sorted=${{ index: 3, down: true }}
      columns=${[
        { title: 'Gateway', head: true, sort: (row) => row.replica, cell: (row) => html`<code>${row.replica}</code>` },
        { title: 'Release', sort: (row) => row.release, cell: (row) => row.release || NONE },
        {
          title: 'Last seen',
          number: true,
          sort: (row) => row.lastSeenAt,
          cell: (row) => ago(status.now - row.lastSeenAt),
        },
        { title: 'Requests', number: true, sort: (row) => row.requests, cell: (row) => count(row.requests) },
        { title: 'Violations', number: true, sort: (row) => row.violations, cell: (row) => count(row.violations) },
      ]}
    />
  `;
}

/** Returns the most frequent value, or the first such value if there are several. */
function mostCommon(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].reduce((best, one) => (one[1] > best[1] ? one : best), [undefined, 0])[0];
}

const ago = (milliseconds) => age(Math.max(0, milliseconds / 1000));
