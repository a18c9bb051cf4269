import { age, count, NONE, plural } from '../lib/format.js';
import { html } from '../lib/html.js';
import { usePoll } from '../lib/poll.js';
import { Table } from '../lib/table.js';
import { Reading, Trouble } from '../lib/trouble.js';

/** The properties that should be the same for all gateways. */
const AGREED = ['version', 'contract', 'configuration', 'baseline'];

/** The page that lists the gateways that share state, each with its counts. */
export function FleetPage({ status, shownError }) {
  const { data, error } = usePoll('fleet');
  if (data === undefined)
    return html`<h1>Fleet</h1>
      <${Reading} error=${error} shownError=${shownError} />`;
  const { instances, replicas, hours } = data;
  const differing = AGREED.filter((name) => new Set(instances.map((one) => one[name])).size > 1);
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
          cell: (row) => (row.ready ? html`<span class="good">ready</span>` : html`<span class="bad">not ready</span>`),
        },
        { title: 'Mode', cell: (row) => row.mode },
        { title: 'Version', cell: (row) => row.version },
        { title: 'Contract', cell: (row) => html`<code>${row.contract}</code>` },
        { title: 'Configuration', cell: (row) => html`<code>${row.configuration}</code>` },
        { title: 'Baseline', cell: (row) => html`<code>${row.baseline}</code>` },
        { title: 'Started', number: true, cell: (row) => ago(status.now - row.startedAt) },
        { title: 'Heard of', number: true, cell: (row) => ago(row.silentSeconds * 1000) },
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

const ago = (milliseconds) => age(Math.max(0, milliseconds / 1000));
