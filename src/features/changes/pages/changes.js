import { post } from '../lib/api.js';
import { Confirm } from '../lib/confirm.js';
import { age, count, dateTime, NONE, plural } from '../lib/format.js';
import { html, useState } from '../lib/html.js';
import { usePoll } from '../lib/poll.js';
import { Table } from '../lib/table.js';
import { Reading, Trouble } from '../lib/trouble.js';

/** How each outcome of a reading is shown. */
const OUTCOMES = {
  complete: 'good',
  unsorted: 'warn',
  truncated: 'bad',
  invalid: 'bad',
  failed: 'bad',
  refused: 'bad',
};

/** The page about the change feed: the lists that are read, the webhooks, and the latest events without their data. */
export function Page({ shownError }) {
  const { data, error, refresh } = usePoll('changes');
  const [retrying, setRetrying] = useState(/** @type {string | undefined} */ (undefined));
  const [problem, setProblem] = useState(/** @type {import('../lib/api.js').ApiError | undefined} */ (undefined));
  if (data === undefined)
    return html`<h1>Changes</h1>
      <${Reading} error=${error} shownError=${shownError} />`;
  const retry = async () => {
    try {
      await post('changes/retry', { webhook: retrying });
      setProblem(undefined);
    } catch (failure) {
      setProblem(/** @type {import('../lib/api.js').ApiError} */ (failure));
    }
    setRetrying(undefined);
    refresh();
  };
  return html`
    <h1>Changes</h1>
    <p class="muted">
      ${
        data.works
          ? 'This gateway reads the lists and sends the messages of webhooks.'
          : 'Another gateway reads the lists and sends the messages, or Redis cannot be reached.'
      }
      ${' '}${plural(data.stored, 'event')} stored, ${plural(data.subscribers, 'event stream')} open on this gateway at
      <code>${data.path}</code>.
    </p>
    <${Trouble} error=${problem ?? error} shownError=${shownError} />
    ${
      retrying !== undefined &&
      html`<${Confirm}
        title="Send the dead letters again?"
        text=${`All messages to ${retrying} that were given up are sent again. Each has one more attempt.`}
        action="Send again"
        onConfirm=${retry}
        onClose=${() => setRetrying(undefined)}
      />`
    }
    <${Table}
      caption="Lists"
      kind="cards"
      rows=${data.lists}
      keyOf=${(row) => row.list}
      empty="No lists are read."
      columns=${[
        { title: 'List', head: true, sort: (row) => row.list, cell: (row) => row.list },
        {
          title: 'Last reading',
          cell: (row) =>
            row.outcome === undefined
              ? NONE
              : html`<span class=${`badge ${OUTCOMES[row.outcome] ?? ''}`}>${row.outcome}</span>${
                    row.reason && html` <small>${row.reason}</small>`
                  }`,
        },
        {
          title: 'Complete',
          sort: (row) => row.readAt ?? 0,
          cell: (row) => (row.readAt === undefined ? NONE : `${age((Date.now() - row.readAt) / 1000)} ago`),
        },
      ]}
    />
    <h2>Webhooks</h2>
    <${Table}
      caption="Webhooks"
      kind="cards"
      rows=${data.webhooks}
      keyOf=${(row) => row.name}
      empty="There are no webhooks."
      columns=${[
        { title: 'Webhook', head: true, sort: (row) => row.name, cell: (row) => row.name },
        { title: 'Format', cell: (row) => row.format },
        { title: 'Account', cell: (row) => row.account ?? 'none: only violations' },
        { title: 'Backlog', sort: (row) => row.backlog, cell: (row) => count(row.backlog) },
        {
          title: 'State',
          cell: (row) =>
            row.failures === 0
              ? html`<span class="badge good">ok</span>`
              : html`<span class="badge bad">${plural(row.failures, 'failure')}</span>
                  <small>${row.reason ?? ''}, next attempt ${dateTime(row.nextAt)}</small>`,
        },
        {
          title: 'Dead letters',
          sort: (row) => row.dead.length,
          cell: (row) =>
            row.dead.length === 0
              ? count(0)
              : html`${count(row.dead.length)}
                  <button type="button" onClick=${() => setRetrying(row.name)}>Send again</button>`,
        },
      ]}
    />
    <h2>Latest events</h2>
    <${Table}
      caption="Latest events"
      kind="cards"
      rows=${data.events}
      keyOf=${(row) => row.id}
      empty="Nothing has changed since the lists were first read."
      columns=${[
        { title: 'Time', head: true, sort: (row) => row.at, cell: (row) => dateTime(row.at) },
        { title: 'Kind', sort: (row) => row.kind, cell: (row) => row.kind },
        { title: 'About', cell: (row) => `${row.target.type} ${row.target.id}` },
        { title: 'List', sort: (row) => row.list, cell: (row) => row.list },
        { title: 'Id', cell: (row) => html`<code>${row.id}</code>` },
      ]}
    />
  `;
}
