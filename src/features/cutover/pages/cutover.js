import { post } from '../lib/api.js';
import { FormDialog } from '../lib/confirm.js';
import { count, dateTime, latency, NONE } from '../lib/format.js';
import { html, useState } from '../lib/html.js';
import { useKeptFocus } from '../lib/keep-focus.js';
import { usePoll } from '../lib/poll.js';
import { Table } from '../lib/table.js';
import { Reading, Trouble } from '../lib/trouble.js';
import { Unstored } from '../lib/unstored.js';

const TONES = { running: 'good', frozen: 'warn', returned: 'bad' };

/** The page that shows who is served by the new server, and lets operators change it. */
export function Page({ status, shownError, announce }) {
  const { data, error, refresh } = usePoll('cutover');
  const [asking, setAsking] = useState(/** @type {any} */ (undefined));
  const [unstored, setUnstored] = useState(false);
  const [unshared, setUnshared] = useState(false);
  const keepFocus = useKeptFocus(data);
  if (data === undefined)
    return html`<h1>Cut-over</h1>
      <${Reading} error=${error} shownError=${shownError} />`;
  const why = status.readOnlyReason;
  const button = (title, action) =>
    html`<button
      type="button"
      disabled=${why !== undefined}
      aria-describedby=${why && 'why'}
      onClick=${() => setAsking({ title, ...action })}
    >
      ${title}
    </button>`;
  const isRunning = data.phase === 'running';
  return html`
    <h1>Cut-over</h1>
    <p>
      <span class=${`badge ${TONES[data.phase]}`}>${data.phase}</span> ${data.decision.reason}${
        data.decision.by ? `, ${data.decision.by}` : ''
      }.
      The new server is ${data.url}. ${data.paused && html` <span class="badge bad">new server paused</span>`}
    </p>
    <p id="why" class="muted">
      ${why ?? 'Every decision applies to all gateways and is added to the audit trail.'}
      ${data.staying > 0 && ` Callers who stay with a server because it has got a write of theirs: ${count(data.staying)}.`}
    </p>
    <${Trouble} error=${error} shownError=${shownError} />
    ${unstored && html`<${Unstored} what="decision" />`}
    ${
      unshared &&
      html`<p class="note bad" role="alert">
        Other gateways have not heard of the decision, because Redis cannot be reached. Decide it there, too, if it
        cannot wait.
      </p>`
    }
    <div class="row">
      ${button('Set a share', { path: 'cutover/set', hasShare: true })}
      ${isRunning && button('Freeze', { path: 'cutover/freeze' })}
      ${data.phase !== 'returned' && button('Return', { path: 'cutover/return' })}
      ${!isRunning && button('Resume', { path: 'cutover/resume', needsName: true })}
    </div>
    <h2>Operations</h2>
    <${Table}
      caption="The share of each operation that takes part"
      kind="cards"
      rows=${data.operations}
      keyOf=${(row) => row.operation}
      empty="No operation takes part."
      columns=${[
        { title: 'Operation', head: true, sort: (row) => row.operation, cell: (row) => row.operation },
        { title: 'Callers', number: true, sort: (row) => row.share, cell: (row) => `${row.share}%` },
      ]}
    />
    <h2>The two servers</h2>
    <p class="muted">The latest ${count(data.return.windowSeconds)} seconds on this gateway.</p>
    <${Table}
      caption="Exchanges with the two servers"
      kind="cards"
      rows=${data.counts}
      keyOf=${(row) => `${row.operation} ${row.side}`}
      empty="Nothing has been requested."
      columns=${[
        {
          title: 'Operation',
          head: true,
          sort: (row) => row.operation ?? '',
          cell: (row) => row.operation ?? 'all together',
        },
        { title: 'Server', sort: (row) => row.side, cell: (row) => row.side },
        number('Exchanges', 'exchanges'),
        number('Failed', 'failed'),
        number('Violated', 'violated'),
        number('Refused', 'refused'),
        {
          title: data.return.latency.measure,
          number: true,
          sort: (row) => row.latency ?? 0,
          cell: (row) => (row.latency === undefined ? NONE : latency(row.latency)),
        },
      ]}
    />
    <h2>Decisions</h2>
    <${Table}
      caption="Decisions"
      kind="cards"
      rows=${data.decisions}
      keyOf=${(row) => row.number}
      empty="Nobody has decided anything: the configured shares apply."
      columns=${[
        { title: 'Time', head: true, cell: (row) => dateTime(Date.parse(row.at)) },
        { title: 'Phase', cell: (row) => row.phase },
        {
          title: 'Shares',
          cell: (row) =>
            Object.entries(row.shares)
              .map(([operation, share]) => `${operation} ${share}%`)
              .join(', ') || 'as configured',
        },
        { title: 'By', cell: (row) => row.by ?? (row.cause === 'operator' ? NONE : 'Portico') },
        { title: 'Reason', cell: (row) => row.reason },
      ]}
    />
    ${
      asking &&
      html`<${Ask}
        asking=${asking}
        operations=${['*', ...data.operations.map(({ operation }) => operation)]}
        onDone=${({ stored, shared, decision }) => {
          announce(`The cut-over is ${decision.phase}: ${decision.reason}.`);
          setUnstored(!stored);
          setUnshared(shared === false);
          setAsking(undefined);
          keepFocus();
          refresh();
        }}
        onClose=${() => setAsking(undefined)}
      />`
    }
  `;
}

const number = (title, key) => ({ title, number: true, sort: (row) => row[key], cell: (row) => count(row[key]) });

/** The form for a decision. */
function Ask({ asking, operations, onDone, onClose }) {
  const { title, path, hasShare = false, needsName = false } = asking;
  const send = ({ share, ...form }) => post(path, hasShare ? { ...form, share: Number(share) } : form);
  return html`<${FormDialog} title=${`${title}?`} action=${title} send=${send} onDone=${onDone} onClose=${onClose}>
    ${(field) => html`
      ${
        hasShare &&
        field(
          'operation',
          'Operation',
          (more) =>
            html`<select ...${more}>
              ${operations.map((one) => html`<option value=${one}>${one === '*' ? 'all that read (*)' : one}</option>`)}
            </select>`,
        )
      }
      ${
        hasShare &&
        field(
          'share',
          'Percentage of the callers',
          (more) => html`<input type="number" min="0" max="100" step="any" required autofocus ...${more} />`,
        )
      }
      ${field('reason', 'Why? (optional)', (more) => html`<input maxlength="500" autocomplete="off" ...${more} />`)}
      ${field(
        'by',
        needsName ? 'Your name' : 'Your name (needed to move callers to the new server)',
        (more) => html`<input maxlength="100" autocomplete="name" required=${needsName} ...${more} />`,
      )}
    `}
  <//>`;
}
