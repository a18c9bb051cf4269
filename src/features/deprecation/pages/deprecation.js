import { post } from '../lib/api.js';
import { FormDialog } from '../lib/confirm.js';
import { count, dateTime, NONE, plural } from '../lib/format.js';
import { html, useState } from '../lib/html.js';
import { useKeptFocus } from '../lib/keep-focus.js';
import { OperationLinks } from '../lib/operation-links.js';
import { usePoll } from '../lib/poll.js';
import { Table } from '../lib/table.js';
import { Reading, Trouble } from '../lib/trouble.js';
import { Unstored } from '../lib/unstored.js';
import { wrappedPath } from '../lib/wrapped.js';

const TONES = {
  'in progress': 'bad',
  gone: 'bad',
  'past its sunset': 'warn',
  revoked: 'warn',
  scheduled: '',
  over: '',
};

/** The page that shows what is deprecated and who still uses it, and lets operators revoke brown-outs. */
export function Page({ status, shownError, announce }) {
  const { data, error, refresh } = usePoll('deprecation');
  const [deciding, setDeciding] = useState(/** @type {any} */ (undefined));
  const [unstored, setUnstored] = useState(false);
  const keepFocus = useKeptFocus(data);
  if (data === undefined)
    return html`<h1>Deprecation</h1>
      <${Reading} error=${error} shownError=${shownError} />`;
  const reason = status.readOnlyReason;
  const brownouts = data.entries.flatMap((entry) =>
    entry.brownouts.map((one) => ({ ...one, subject: entry.subject, dryRun: entry.dryRun })),
  );
  return html`
    <h1>Deprecation</h1>
    <p id="why" class="muted">
      ${reason ?? 'Requests in a revoked brown-out are served. Every decision is added to the audit trail.'}
    </p>
    <${Trouble} error=${error} shownError=${shownError} />
    ${unstored && html`<${Unstored} what="decision" />`}
    <${Table}
      caption="Deprecated"
      kind="cards"
      rows=${data.entries}
      keyOf=${(row) => `${row.subject} ${row.since}`}
      empty="Nothing is deprecated."
      columns=${[
        { title: 'Subject', head: true, sort: (row) => row.subject, cell: (row) => row.subject },
        {
          title: 'State',
          sort: (row) => row.state,
          cell: (row) => html`<span class=${`badge ${TONES[row.state] ?? ''}`}>${row.state}</span>`,
        },
        { title: 'Since', sort: (row) => Date.parse(row.since), cell: (row) => timeOf(row.since) },
        { title: 'Sunset', cell: (row) => timeOf(row.sunset) },
        { title: 'Requests', number: true, sort: (row) => row.requests, cell: (row) => count(row.requests) },
        { title: 'Callers', number: true, sort: (row) => row.callers, cell: (row) => count(row.callers) },
        { title: 'Last seen', cell: (row) => timeOf(row.lastSeen) },
        { title: 'Successor', cell: (row) => wrappedPath(row.successor ?? NONE) },
      ]}
    />
    <h2>Brown-outs</h2>
    <${Table}
      caption="Brown-outs"
      kind="cards"
      rows=${brownouts}
      keyOf=${(row) => row.id}
      empty="No brown-out is planned."
      columns=${[
        { title: 'Subject', head: true, sort: (row) => row.subject, cell: (row) => row.subject },
        { title: 'From', sort: (row) => Date.parse(row.from), cell: (row) => timeOf(row.from) },
        { title: 'To', cell: (row) => timeOf(row.to) },
        {
          title: 'State',
          sort: (row) => row.state,
          cell: (row) =>
            html`<span class=${`badge ${TONES[row.state] ?? ''}`}>${row.state}</span>${
                row.dryRun && html` <small>only counted</small>`
              }`,
        },
        {
          title: 'Decision',
          cell: ({ decision }) =>
            decision === undefined
              ? NONE
              : [decision.reason, decision.by, dateTime(Date.parse(decision.at))].filter(Boolean).join(', '),
        },
        {
          title: 'Change',
          cell: (row) =>
            row.state === 'over' || Date.parse(row.to) <= status.now
              ? NONE
              : html`<button
                  type="button"
                  disabled=${reason !== undefined}
                  aria-describedby=${reason && 'why'}
                  onClick=${() => setDeciding(row)}
                >
                  ${row.state === 'revoked' ? 'Restore' : 'Revoke'}<span class="unseen">
                    the brown-out of ${row.subject} from ${row.from}</span
                  >
                </button>`,
        },
      ]}
    />
    <h2>Usage</h2>
    <p class="muted">
      Callers are shown by tags, never by name; <code>portico deprecation caller NAME</code> prints those of an account.
      A tag that begins with ~ is of a name that Portico has not verified.
      ${data.found > data.rows.length && `The first ${count(data.rows.length)} of ${plural(data.found, 'row')} are shown.`}
      ${data.removed > 0 && `${plural(data.removed, 'row was', 'rows were')} removed because there were too many.`}
    </p>
    <${Table}
      caption="Usage of what is deprecated"
      kind="cards"
      rows=${data.rows}
      keyOf=${(row) => `${row.operation} ${row.part} ${row.name} ${row.caller}`}
      empty="Nobody has used it."
      columns=${[
        {
          title: 'Operation',
          head: true,
          sort: (row) => row.operation,
          cell: (row) => html`${row.operation} <small><${OperationLinks} operation=${row.operation} /></small>`,
        },
        { title: 'Part', sort: (row) => `${row.part} ${row.name}`, cell: (row) => `${row.part} ${row.name}`.trim() },
        { title: 'Caller', sort: (row) => row.caller, cell: (row) => html`<code>${row.caller}</code>` },
        { title: 'Requests', number: true, sort: (row) => row.count, cell: (row) => count(row.count) },
        { title: 'First seen', cell: (row) => timeOf(row.firstSeen) },
        { title: 'Last seen', sort: (row) => Date.parse(row.lastSeen), cell: (row) => timeOf(row.lastSeen) },
      ]}
    />
    ${
      deciding &&
      html`<${Decide}
        brownout=${deciding}
        onDone=${({ stored }) => {
          announce(`The brown-out of ${deciding.subject} is ${wordsOf(deciding).done}.`);
          setUnstored(!stored);
          setDeciding(undefined);
          keepFocus();
          refresh();
        }}
        onClose=${() => setDeciding(undefined)}
      />`
    }
  `;
}

const timeOf = (text) => (text === undefined ? NONE : dateTime(Date.parse(text)));

const wordsOf = ({ state }) =>
  state === 'revoked'
    ? { path: 'deprecation/restore', title: 'Restore the brown-out?', action: 'Restore', done: 'restored' }
    : { path: 'deprecation/revoke', title: 'Revoke the brown-out?', action: 'Revoke', done: 'revoked' };

/** The form for a decision about a brown-out. */
function Decide({ brownout, onDone, onClose }) {
  const { path, title, action } = wordsOf(brownout);
  const send = (form) => post(path, { ...form, brownout: brownout.id });
  return html`<${FormDialog} title=${title} action=${action} send=${send} onDone=${onDone} onClose=${onClose}>
    ${(field) => html`
      <p>${brownout.subject}, ${timeOf(brownout.from)} to ${timeOf(brownout.to)}</p>
      ${field(
        'reason',
        'Why?',
        (more) => html`<input maxlength="500" required autofocus autocomplete="off" ...${more} />`,
      )}
      ${field('by', 'Your name (optional)', (more) => html`<input maxlength="100" autocomplete="name" ...${more} />`)}
    `}
  <//>`;
}
