import { Chart } from '../lib/chart.js';
import { age, count, estimated, latency, NONE, percent, plural, short } from '../lib/format.js';
import { html } from '../lib/html.js';
import { usePoll } from '../lib/poll.js';
import { withQuery } from '../lib/api.js';
import { changeQuery, hrefOf } from '../lib/route.js';
import { OperationLinks } from '../lib/operation-links.js';
import { Table } from '../lib/table.js';
import { Reading, Trouble } from '../lib/trouble.js';
import { wrappedPath } from '../lib/wrapped.js';

const SPANS = [5, 15, 30, 60];
const FOLDED = 'folded';

const choose = (change) => changeQuery(['traffic'], change);

/** The page that shows each operation's rate, errors, latency and hit ratio in charts and a table. */
export function Page({ query, status, shownError }) {
  const minutes = SPANS.includes(Number(query.minutes)) ? query.minutes : '15';
  const requested = query.operation ?? '';
  const { data: fresh, stale, error } = usePoll(withQuery('traffic', { minutes, operation: requested }));
  const data = fresh ?? stale;
  // An operation can be selected only if it is counted separately.
  const counted = data?.rows.map((row) => row.operation) ?? [requested];
  const operation = counted.includes(requested) ? requested : '';
  return html`
    <div class="heading">
      <h1>Traffic</h1>
      <form class="row" onSubmit=${(event) => event.preventDefault()}>
        <label>
          <span>Operation</span>
          <select value=${operation} onChange=${(event) => choose({ operation: event.currentTarget.value })}>
            <option value="">all operations</option>
            ${counted.filter((id) => id !== '').map((id) => html`<option value=${id} key=${id}>${id}</option>`)}
          </select>
        </label>
        <label>
          <span>Last</span>
          <select value=${minutes} onChange=${(event) => choose({ minutes: event.currentTarget.value })}>
            ${SPANS.map((span) => html`<option value=${String(span)} key=${span}>${span} min</option>`)}
          </select>
        </label>
      </form>
    </div>
    ${data !== undefined && html`<${Trouble} error=${error} shownError=${shownError} />`}
    ${data ? html`<${Shown} data=${data} period=${fresh === undefined ? '' : `${minutes} ${requested}`} operation=${operation} minutes=${minutes} all=${status.operations.length} />` : html`<${Reading} error=${error} shownError=${shownError} />`}
  `;
}

const rate = (value) => `${short(value)}/s`;

function Shown({ data, period, operation, minutes, all }) {
  const seconds = Math.max(1, (data.until - data.since) / 1000);
  const own = data.rows.find((row) => row.operation === operation) ?? data.total;
  const known = own.path !== undefined;
  const perSecond = (value) => `${short(value / seconds)}/s`;
  const folded = all - data.rows.filter(({ path }) => path !== undefined).length;
  const shareOf = (value) => (own.requests === 0 ? undefined : value / own.requests);
  return html`
    ${operation !== '' && html`<p class="row"><b>${operation}</b> ${known && html`<${OperationLinks} operation=${operation} without="Traffic" />`}</p>`}
    <dl class="tiles">
      <${Tile} name="Requests" value=${perSecond(own.requests)} note=${`${count(own.requests)} in ${age(seconds)}`} />
      <${Tile}
        name="Errors (5xx)"
        value=${percent(shareOf(own.serverErrors))}
        note=${plural(own.serverErrors, 'response')}
      />
      <${Tile}
        name="Refusals (4xx)"
        value=${percent(shareOf(own.clientErrors))}
        note=${plural(own.clientErrors, 'response')}
      />
      <${Tile} name="p50" value=${latency(own.p50, data.bounds)} note="half of the responses are faster" />
      <${Tile} name="p99" value=${latency(own.p99, data.bounds)} note="1% of the responses are slower" />
      <${Tile} name="Hit ratio" value=${percent(own.hitRatio)} note="served from the cache" />
    </dl>
    <div class="charts">
      <${Chart}
        title="Requests"
        points=${data.points}
        from=${data.until - Number(minutes) * 60_000}
        to=${data.until}
        format=${rate}
        summary=${`${perSecond(own.requests)} on average`}
        series=${[{ label: 'per second', color: 'accent', value: (point) => point.requests / point.seconds }]}
      />
      <${Chart}
        title="Errors and refusals"
        points=${data.points}
        from=${data.until - Number(minutes) * 60_000}
        to=${data.until}
        format=${rate}
        summary=${`${count(own.serverErrors)} responses with 5xx and ${count(own.clientErrors)} with 4xx`}
        series=${[
          { label: 'errors (5xx)', color: 'bad', value: (point) => point.serverErrors / point.seconds },
          { label: 'refusals (4xx)', color: 'warn', dash: true, value: (point) => point.clientErrors / point.seconds },
        ]}
      />
      <${Chart}
        title="Latency"
        logarithmic=${true}
        points=${data.points}
        from=${data.until - Number(minutes) * 60_000}
        to=${data.until}
        format=${latency}
        textFor=${(value) => latency(value, data.bounds)}
        summary=${`p50 ${latency(own.p50, data.bounds)}, p99 ${latency(own.p99, data.bounds)}`}
        series=${[
          { label: 'p50', color: 'accent', value: (point) => point.p50 },
          { label: 'p99', color: 'second', dash: true, value: (point) => point.p99 },
        ]}
      />
      <${Chart}
        title="Hit ratio"
        points=${data.points}
        from=${data.until - Number(minutes) * 60_000}
        to=${data.until}
        format=${percent}
        summary=${`${percent(own.hitRatio)} of cache lookups`}
        series=${[{ label: 'hits', color: 'good', value: (point) => point.hitRatio }]}
      />
    </div>
    <p class="muted">${estimated(data.bounds)}</p>
    <h2>By operation</h2>
    <${Table}
      caption="Traffic by operation"
      kind="cards"
      steady=${period}
      rows=${data.rows}
      keyOf=${(row) => row.operation}
      sorted=${{ index: 1, down: true }}
      columns=${[
        { title: 'Operation', head: true, sort: (row) => row.operation, cell: (row) => named(row, minutes, folded) },
        { title: 'Requests', number: true, sort: (row) => row.requests, cell: (row) => count(row.requests) },
        { title: 'Rate', number: true, cell: (row) => perSecond(row.requests) },
        { title: '4xx', number: true, sort: (row) => row.clientErrors, cell: (row) => count(row.clientErrors) },
        {
          title: '5xx',
          number: true,
          sort: (row) => row.serverErrors,
          cell: (row) => html`<span class=${row.serverErrors > 0 ? 'bad' : ''}>${count(row.serverErrors)}</span>`,
        },
        { title: 'p50', number: true, sort: (row) => row.p50 ?? -1, cell: (row) => latency(row.p50, data.bounds) },
        { title: 'p99', number: true, sort: (row) => row.p99 ?? -1, cell: (row) => latency(row.p99, data.bounds) },
        { title: 'Hit ratio', number: true, sort: (row) => row.hitRatio ?? -1, cell: (row) => percent(row.hitRatio) },
        {
          title: 'See also',
          cell: ({ operation: id, path }) =>
            path === undefined
              ? html`<a href=${hrefOf(['violations'], { operation: id })}>Violations</a>`
              : html`<${OperationLinks} operation=${id} without="Traffic" />`,
        },
      ]}
    />
  `;
}

function named({ operation, method, path }, minutes, folded) {
  const outside = operation === FOLDED ? `${plural(folded, 'operation')} counted together` : 'not in the contract';
  return html`<a href=${hrefOf(['traffic'], { operation, minutes })}>${operation}</a>
    <small class="path">${method === undefined ? outside : html`${method} ${wrappedPath(path)}`}</small>`;
}

function Tile({ name, value, note }) {
  return html`<div class="card">
    <dt>${name}</dt>
    <dd>
      <strong>${value ?? NONE}</strong>
      <small>${note}</small>
    </dd>
  </div>`;
}
