import { Accept } from '../lib/accept.js';
import { count, dateTime, estimated, latency, NONE, percent, plural } from '../lib/format.js';
import { html, useState } from '../lib/html.js';
import { usePoll } from '../lib/poll.js';
import { hrefOf } from '../lib/route.js';
import { Table } from '../lib/table.js';
import { Reading, Trouble } from '../lib/trouble.js';

/** The page that shows how the responses of a second server differ, and how much has been compared. */
export function Page({ status, shownError, announce }) {
  const { data, error, refresh } = usePoll('mirror');
  const [accepting, setAccepting] = useState(/** @type {any} */ (undefined));
  if (data === undefined)
    return html`<h1>Mirror</h1>
      <${Reading} error=${error} shownError=${shownError} />`;
  const accepted = () => {
    setAccepting(undefined);
    announce('The difference is accepted.');
    refresh();
  };
  // Nobody can accept a leak.
  const mayAccept = (row) =>
    !row.accepted &&
    row.keyword !== 'compare-leak' &&
    status.readOnlyReason === undefined &&
    data.acceptance.file !== undefined;
  return html`
    <h1>Mirror</h1>
    <p class="muted">
      ${data.label} at ${data.url}, compared with the upstream since ${dateTime(Date.parse(data.since))}.
      ${data.paused ? ' Nothing is mirrored at the moment, because the second server fails.' : ''}
    </p>
    <${Trouble} error=${error} shownError=${shownError} />
    <h2>Readiness</h2>
    <p class="muted">
      At most different and Callers noticing are upper bounds with a confidence of 95%: of the exchanges that would
      differ in a way that nobody has accepted, and of the callers who would notice. They say nothing about exchanges
      that are never compared. ${estimated(data.latencyBounds)}
    </p>
    <${Table}
      caption="Readiness of each operation"
      kind="cards dense"
      rows=${data.operations}
      keyOf=${(row) => row.operation}
      empty="Nothing has been requested yet."
      sorted=${{ index: 8, down: true }}
      columns=${[
        {
          title: 'Operation',
          head: true,
          sort: (row) => row.operation,
          cell: (row) => (row.onlyRefusals ? `${row.operation} (only refusals)` : row.operation),
        },
        number('Compared', (row) => row.compared),
        number('Equal', (row) => row.equal),
        number('Muted', (row) => row.muted),
        number('Different', (row) => row.different),
        number('Accepted', (row) => row.accepted),
        number('Races', (row) => row.races),
        {
          title: 'Coverage',
          number: true,
          sort: (row) => row.coverage,
          cell: (row) => html`${percent(row.coverage)}<br />of ${count(row.exchanges)}`,
        },
        {
          title: 'At most different',
          number: true,
          sort: (row) => row.atMost,
          cell: (row) => (row.compared === 0 ? NONE : bound(row.atMost)),
        },
        {
          title: 'Callers noticing',
          number: true,
          sort: (row) => row.callersAtMost,
          cell: (row) => (row.callers === 0 ? NONE : html`${bound(row.callersAtMost)}<br />of ${count(row.callers)}`),
        },
        times('p50', (side) => side.p50, data.latencyBounds),
        times('p99', (side) => side.p99, data.latencyBounds),
      ]}
    />
    <h2>Differences</h2>
    <p class="muted" role="status">${plural(data.findings.length, 'difference')}</p>
    <${Table}
      caption="Differences"
      kind="cards"
      rows=${data.findings}
      keyOf=${(row) => row.fingerprint}
      empty="No difference has been found."
      columns=${[
        {
          title: 'Difference',
          head: true,
          cell: (row) =>
            html`<a href=${hrefOf(['violations', row.fingerprint])}>${row.message}</a>${
                row.accepted && html` <span class="badge good">accepted by ${row.owner || NONE}</span>`
              } <${Pair} row=${row} />`,
        },
        { title: 'Operation', sort: (row) => row.operation, cell: (row) => `${row.operation}, ${row.status}` },
        { title: 'Caller', sort: (row) => row.role, cell: (row) => row.role },
        { title: 'Place', cell: (row) => html`<code>${row.at || NONE}</code>` },
        { title: 'Old', cell: (row) => row.old },
        { title: 'New', cell: (row) => row.new },
        { title: 'Contract', cell: (row) => `${row.verdicts.old} → ${row.verdicts.new}` },
        number('Count', (row) => row.count),
        {
          title: 'Baseline',
          cell: (row) =>
            mayAccept(row) &&
            html`<button
              type="button"
              aria-label=${`Accept: ${row.message} ${row.at}`}
              onClick=${() => setAccepting(row)}
            >
              Accept
            </button>`,
        },
      ]}
    />
    ${
      accepting !== undefined &&
      html`<${Accept}
        data=${{ ...accepting, accepted: undefined, acceptance: data.acceptance }}
        onDone=${accepted}
        onClose=${() => setAccepting(undefined)}
      />`
    }
    <h2>What was not compared</h2>
    <${Table}
      caption="What was not compared"
      kind="cards"
      rows=${data.operations.flatMap((row) =>
        Object.entries(row.because).map(([reason, times]) => ({ operation: row.operation, reason, times })),
      )}
      keyOf=${(row) => `${row.operation} ${row.reason}`}
      empty="Everything was compared."
      columns=${[
        { title: 'Operation', head: true, sort: (row) => row.operation, cell: (row) => row.operation },
        { title: 'Reason', sort: (row) => row.reason, cell: (row) => row.reason },
        number('Exchanges', (row) => row.times),
      ]}
    />
    <h2>Coverage</h2>
    <${Table}
      caption="Coverage by operation, parameter, status and caller"
      kind="cards"
      rows=${data.rows}
      keyOf=${(row) => `${row.operation} ${row.parameter} ${row.status} ${row.role}`}
      empty="Nothing has been requested yet."
      columns=${[
        { title: 'Operation', head: true, sort: (row) => row.operation, cell: (row) => row.operation },
        { title: 'Parameter', sort: (row) => row.parameter, cell: (row) => row.parameter || '(all)' },
        { title: 'Status', sort: (row) => row.status, cell: (row) => row.status || NONE },
        { title: 'Caller', sort: (row) => row.role, cell: (row) => row.role || NONE },
        number('Equal', (row) => row.equal),
        number('Different', (row) => row.different),
        number('Muted', (row) => row.muted),
        number('Not comparable', (row) => row.notComparable),
        number('Not made', (row) => row.notMade),
      ]}
    />
  `;
}

/** Shows the first pair of objects that differed, side by side, without their values. */
function Pair({ row }) {
  if (row.beside.length === 0) return undefined;
  return html`<details>
    <summary>Side by side</summary>
    <table aria-label="Both responses, without values">
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Old</th>
          <th scope="col">New</th>
        </tr>
      </thead>
      <tbody>
        ${row.beside.map(
          ([name, old, next]) =>
            html`<tr key=${name}>
              <th scope="row"><code>${name}</code></th>
              <td>${old}</td>
              <td>${old === next ? html`<span class="muted">${next}</span>` : html`<strong>${next}</strong>`}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </details>`;
}

const number = (title, valueOf) => ({ title, number: true, sort: valueOf, cell: (row) => count(valueOf(row)) });

/** An upper bound is rounded up, because it would not hold otherwise. */
const bound = (share) => percent(Math.ceil(share * 1000) / 1000);

/** Returns a column with a percentile of the response times of both servers. */
const times = (title, valueOf, bounds) => ({
  title,
  number: true,
  sort: ({ latency: { new: side } }) => valueOf(side) ?? 0,
  cell: ({ latency: sides }) =>
    sides.old.count === 0
      ? NONE
      : html`${latency(valueOf(sides.old), bounds)}<br />→ ${latency(valueOf(sides.new), bounds)}`,
});
