import { count, dateTime, latency, NONE, percent, plural } from '../lib/format.js';
import { html } from '../lib/html.js';
import { usePoll } from '../lib/poll.js';
import { hrefOf } from '../lib/route.js';
import { Table } from '../lib/table.js';
import { Reading, Trouble } from '../lib/trouble.js';

/** The page that shows how the responses of a second server differ, and how much has been compared. */
export function Page({ shownError }) {
  const { data, error } = usePoll('mirror');
  if (data === undefined)
    return html`<h1>Mirror</h1>
      <${Reading} error=${error} shownError=${shownError} />`;
  return html`
    <h1>Mirror</h1>
    <p class="muted">
      ${data.label} at ${data.url}, compared with the upstream since ${dateTime(Date.parse(data.since))}, on this
      gateway. ${data.paused ? ' Nothing is mirrored at the moment, because the second server fails.' : ''}
    </p>
    <${Trouble} error=${error} shownError=${shownError} />
    <h2>Readiness</h2>
    <p class="muted">
      Of the exchanges of an operation, at most the share in the last column would differ in a way that nobody has
      accepted, with a confidence of 95%. It says nothing about exchanges that are never compared.
    </p>
    <${Table}
      caption="Readiness of each operation"
      kind="cards"
      rows=${data.operations}
      keyOf=${(row) => row.operation}
      empty="Nothing has been requested yet."
      sorted=${{ index: 9, down: true }}
      columns=${[
        { title: 'Operation', head: true, sort: (row) => row.operation, cell: (row) => row.operation },
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
          cell: (row) => `${percent(row.coverage)} of ${count(row.exchanges)}`,
        },
        { title: 'Mean time', cell: (row) => `${mean(row.latency.old)} → ${mean(row.latency.new)}` },
        {
          title: 'At most different',
          number: true,
          sort: (row) => row.atMost,
          cell: (row) => (row.compared === 0 ? NONE : percent(row.atMost)),
        },
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
                row.accepted && html` <span class="badge good">accepted</span>`
              }`,
        },
        { title: 'Operation', sort: (row) => row.operation, cell: (row) => `${row.operation}, ${row.status}` },
        { title: 'Caller', sort: (row) => row.role, cell: (row) => row.role },
        { title: 'Place', cell: (row) => html`<code>${row.at || NONE}</code>` },
        { title: 'Old', cell: (row) => row.old },
        { title: 'New', cell: (row) => row.new },
        { title: 'Contract', cell: (row) => `${row.verdicts.old} → ${row.verdicts.new}` },
        number('Count', (row) => row.count),
      ]}
    />
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
      caption="Coverage by operation, status and caller"
      kind="cards"
      rows=${data.rows}
      keyOf=${(row) => `${row.operation} ${row.status} ${row.role}`}
      empty="Nothing has been requested yet."
      columns=${[
        { title: 'Operation', head: true, sort: (row) => row.operation, cell: (row) => row.operation },
        number('Status', (row) => row.status),
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

const number = (title, valueOf) => ({ title, number: true, sort: valueOf, cell: (row) => count(valueOf(row)) });

const mean = (times) => (times.count === 0 ? NONE : latency(times.sum / times.count));
