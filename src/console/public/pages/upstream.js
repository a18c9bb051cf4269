import { withQuery } from '../lib/api.js';
import { count, estimated, latency } from '../lib/format.js';
import { html } from '../lib/html.js';
import { usePoll } from '../lib/poll.js';
import { Table } from '../lib/table.js';
import { Reading, Trouble } from '../lib/trouble.js';

const CIRCUIT = {
  closed: ['good', 'Requests are sent.'],
  open: ['bad', 'No requests are sent, because too many failed.'],
  'half-open': ['warn', 'A single request is sent as a trial.'],
};

/** The page that shows the current state of the upstream and its history over the last 15 minutes. */
export function UpstreamPage({ shownError }) {
  const { data, error } = usePoll(withQuery('upstream', { minutes: '15' }));
  if (data === undefined)
    return html`<h1>Upstream</h1>
      <${Reading} error=${error} shownError=${shownError} />`;
  const [tone, meaning] = CIRCUIT[data.circuit];
  return html`
    <h1>Upstream</h1>
    <${Trouble} error=${error} shownError=${shownError} />
    <dl class="tiles">
      <div class="card">
        <dt>Circuit</dt>
        <dd><strong class=${tone}>${data.circuit}</strong><small>${meaning}</small></dd>
      </div>
      <div class="card">
        <dt>In flight</dt>
        <dd><strong>${count(data.inFlight)}</strong><small>of ${count(data.concurrency)} at most</small></dd>
      </div>
      <div class="card">
        <dt>Waiting</dt>
        <dd><strong>${count(data.queued)}</strong><small>of ${count(data.queue)} at most</small></dd>
      </div>
      <div class="card">
        <dt>p50</dt>
        <dd><strong>${latency(data.p50, data.bounds)}</strong><small>of ${count(data.exchanges)} exchanges</small></dd>
      </div>
      <div class="card">
        <dt>p99</dt>
        <dd><strong>${latency(data.p99, data.bounds)}</strong><small>in the last 15 min</small></dd>
      </div>
    </dl>
    <p class="muted">${estimated(data.bounds)}</p>
    <div class="columns">
      <section>
        <h2>Failures</h2>
        <${Table}
          caption="Failed exchanges by kind, last 15 minutes"
          rows=${data.failures}
          keyOf=${(row) => row.kind}
          columns=${[
            { title: 'Kind', head: true, cell: (row) => row.kind },
            {
              title: 'Exchanges',
              number: true,
              cell: (row) => html`<span class=${row.count > 0 ? 'bad' : ''}>${count(row.count)}</span>`,
            },
          ]}
        />
      </section>
      <section>
        <h2>Latency by operation</h2>
        <${Table}
          caption="Latency of exchanges by operation, last 15 minutes"
          rows=${data.operations.filter((row) => row.exchanges > 0)}
          keyOf=${(row) => row.operation}
          empty="No exchanges yet."
          sorted=${{ index: 1, down: true }}
          columns=${[
            { title: 'Operation', head: true, sort: (row) => row.operation, cell: (row) => row.operation },
            { title: 'Exchanges', number: true, sort: (row) => row.exchanges, cell: (row) => count(row.exchanges) },
            { title: 'p50', number: true, sort: (row) => row.p50 ?? -1, cell: (row) => latency(row.p50, data.bounds) },
            { title: 'p99', number: true, sort: (row) => row.p99 ?? -1, cell: (row) => latency(row.p99, data.bounds) },
          ]}
        />
      </section>
    </div>
  `;
}
