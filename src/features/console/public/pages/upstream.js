import { withQuery } from '../lib/api.js';
import { age, count, dateTime, estimated, latency, NONE, plural } from '../lib/format.js';
import { html } from '../lib/html.js';
import { usePoll } from '../lib/poll.js';
import { Table } from '../lib/table.js';
import { Reading, Trouble } from '../lib/trouble.js';

const CIRCUIT = {
  closed: ['good', 'Requests are sent.'],
  open: ['bad', 'No requests are being sent, because too many have failed.'],
  'half-open': ['warn', 'A single request is sent as a trial.'],
};

/** The page that shows the upstream's current state and its history over the last 15 minutes. */
export function Page({ shownError }) {
  const { data, error } = usePoll(withQuery('upstream', { minutes: '15' }));
  if (data === undefined)
    return html`<h1>Upstream</h1>
      <${Reading} error=${error} shownError=${shownError} />`;
  const [tone, meaning] = CIRCUIT[data.circuit];
  const { lastFailure, changes } = data;
  return html`
    <h1>Upstream</h1>
    <p><code>${data.address}</code></p>
    <${Trouble} error=${error} shownError=${shownError} />
    ${
      lastFailure &&
      html`<p class=${`note ${data.circuit === 'closed' ? '' : 'bad'}`} id="last-failure">
        Last failure: ${causeOf(lastFailure)}, ${dateTime(lastFailure.at)}${' '}
        (${age(Math.max(0, (data.until - lastFailure.at) / 1000))} ago).
      </p>`
    }
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
    <h2>Addresses</h2>
    <${Table}
      caption="Addresses of the upstream"
      kind="cards"
      rows=${data.health.addresses}
      keyOf=${(row) => row.address}
      columns=${[
        { title: 'Address', head: true, cell: (row) => html`<code>${row.address}</code>` },
        { title: 'State', cell: (row) => addressState(row) },
        { title: 'In flight', number: true, cell: (row) => count(row.inFlight) },
        { title: 'Succeeded', number: true, cell: (row) => count(row.requests.succeeded) },
        { title: 'Failed', number: true, cell: (row) => count(row.requests.failed) },
      ]}
    />
    <h2>Circuit</h2>
    <${Timeline} data=${data} />
    ${
      changes.length === 0
        ? html`<p class="muted">The circuit has not opened since the gateway started.</p>`
        : html`<${Table}
            caption="Changes of the circuit"
            kind="cards"
            rows=${changes.toReversed()}
            keyOf=${(row) => `${row.at} ${row.opened}`}
            columns=${[
              { title: 'Time', head: true, cell: (row) => dateTime(row.at) },
              {
                title: 'Change',
                cell: (row) =>
                  html`<span class=${row.opened ? 'bad' : 'good'}>${row.opened ? 'opened' : 'closed'}</span>`,
              },
              { title: 'Cause', cell: (row) => (row.opened ? causeOf(row.failure ?? {}) : 'a trial succeeded') },
              { title: 'Open for', number: true, cell: (row) => (row.opened ? NONE : age(row.openMs / 1000)) },
            ]}
          />`
    }
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
          kind="cards"
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

function addressState({ state, retrySeconds, probe }) {
  if (state === 'ejected') return html`<span class="bad">ejected, retry in ${age(retrySeconds)}</span>`;
  if (probe === 'failed') return html`<span class="bad">the probe fails</span>`;
  return html`<span class="good">${probe === 'passed' ? 'healthy, the probe succeeds' : 'healthy'}</span>`;
}

/** Descriptions of failure causes, keyed by error type (RFC 9209). */
const CAUSES = {
  dns_timeout: 'the name server did not respond',
  dns_error: 'the host name does not exist',
  destination_unavailable: 'the upstream is not available',
  destination_ip_unroutable: 'there is no route to the upstream',
  connection_refused: 'the upstream refused the connection',
  connection_terminated: 'the connection was lost',
  connection_timeout: 'connecting took too long',
  connection_read_timeout: 'the upstream stopped sending',
  connection_write_timeout: 'the upstream stopped reading',
  connection_limit_reached: 'too many requests were waiting',
  tls_protocol_error: 'the TLS handshake failed',
  tls_certificate_error: 'the certificate is not valid',
  tls_alert_received: 'the upstream rejected the TLS handshake',
  http_response_incomplete: 'the response ended too early',
  http_response_header_section_size: 'the response headers are too large',
  http_response_body_size: 'the response is too large',
  http_response_transfer_coding: 'the response has an unknown transfer coding',
  http_response_content_coding: 'the response has an invalid content coding',
  http_response_timeout: 'the upstream did not respond in time',
  http_protocol_error: 'the response is not valid HTTP',
};

function causeOf({ cause, code }) {
  const words = CAUSES[cause] ?? cause ?? 'unknown';
  return code === undefined ? words : `${words} (${code})`;
}

const SHOWN_MS = 3_600_000;

/** A bar that represents the last hour, with marks for the periods during which the circuit was open. */
function Timeline({ data: { changes, circuit, startedAt, until } }) {
  const from = Math.max(startedAt, until - SHOWN_MS);
  const openings = changes
    .map(({ at, opened }, index) => ({ opened, from: at, to: changes[index + 1]?.at ?? until }))
    .filter(({ opened, to }) => opened && to > from);
  const xOf = (at) => (Math.max(0, at - from) / Math.max(1, until - from)) * 1000;
  const label = `In the last ${age(Math.max(1, (until - from) / 1000))}, the circuit opened ${plural(openings.length, 'time')}. It is ${circuit}.`;
  return html`<figure class="timeline">
    <svg viewBox="0 0 1000 24" preserveAspectRatio="none" role="img" aria-label=${label}>
      <rect class="closed" width="1000" height="24" />
      ${openings.map(
        (one) =>
          html`<rect
            key=${one.from}
            class="open"
            x=${xOf(one.from)}
            width=${Math.max(3, xOf(one.to) - xOf(one.from))}
            height="24"
          />`,
      )}
    </svg>
    <figcaption class="muted"><span>${dateTime(from)}</span><span>${label}</span><span>now</span></figcaption>
  </figure>`;
}
