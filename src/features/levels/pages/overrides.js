import { post } from '../lib/api.js';
import { Confirm, FormDialog } from '../lib/confirm.js';
import { age, count, dateTime, NONE } from '../lib/format.js';
import { html, useState } from '../lib/html.js';
import { useKeptFocus } from '../lib/keep-focus.js';
import { OperationLinks } from '../lib/operation-links.js';
import { usePoll } from '../lib/poll.js';
import { Table } from '../lib/table.js';
import { Reading, Trouble } from '../lib/trouble.js';
import { Unstored } from '../lib/unstored.js';

/** The changes that an override can make besides levels, with their labels. */
const OTHER_CHANGES = [
  ['force-stale', 'Serve stored responses, even stale ones'],
  ['disable', 'Disable: refuse every request'],
];
const LEVELS = ['report', 'off', 'enforce'];
const MINUTES = [
  [30, '30 minutes'],
  [60, '1 hour'],
  [240, '4 hours'],
  [1440, '1 day'],
  [10_080, '7 days'],
];

/** The part of the page that shows the active overrides and their latest changes, with buttons for setting and ending overrides. */
export function Overrides({ status, shownError, announce }) {
  const { data, error, refresh } = usePoll('levels');
  const [adding, setAdding] = useState(false);
  const [ending, setEnding] = useState(/** @type {any} */ (undefined));
  const [problem, setProblem] = useState(/** @type {import('../lib/api.js').ApiError | undefined} */ (undefined));
  const [unstored, setUnstored] = useState(false);
  const keepFocus = useKeptFocus(data);
  if (data === undefined)
    return html`<h2>Overrides</h2>
      <${Reading} error=${error} shownError=${shownError} />`;
  const reason = status.readOnlyReason;
  const done = ({ stored }, text) => {
    announce(text);
    setUnstored(!stored);
    setProblem(undefined);
    refresh();
  };
  const end = async () => {
    const { operation } = ending;
    try {
      const result = await post('levels/end', { operation, change: nameOf(ending) });
      done(result, `The override of ${operation} has ended.`);
    } catch (failure) {
      setProblem(/** @type {import('../lib/api.js').ApiError} */ (failure));
      refresh();
    }
    setEnding(undefined);
    keepFocus();
  };
  return html`
    <div class="heading">
      <h2>Overrides</h2>
      <div class="row">
        <button type="button" disabled=${reason !== undefined} aria-describedby="why" onClick=${() => setAdding(true)}>
          Set an override
        </button>
      </div>
    </div>
    <p id="why" class="muted">
      ${reason ?? 'An override changes one operation of this gateway until its end time. Every change is logged and added to the audit trail.'}
    </p>
    <${Trouble} error=${problem ?? error} shownError=${shownError} />
    ${unstored && html`<${Unstored} />`}
    <${Table}
      caption="Active overrides"
      kind="cards"
      rows=${data.overrides}
      keyOf=${(row) => `${row.operation} ${nameOf(row)}`}
      empty="No override is active."
      columns=${[
        {
          title: 'Operation',
          head: true,
          sort: (row) => row.operation,
          cell: (row) => html`${row.operation} <small><${OperationLinks} operation=${row.operation} /></small>`,
        },
        { title: 'Change', sort: nameOf, cell: (row) => html`<span class="badge warn">${changeOf(row)}</span>` },
        {
          title: 'Ends',
          sort: (row) => Date.parse(row.until),
          cell: (row) =>
            html`in ${age(remaining(row, status.now))}, <span class="time">${dateTime(Date.parse(row.until))}</span>`,
        },
        { title: 'Reason', cell: (row) => row.reason },
        { title: 'Set by', sort: operatorOf, cell: operatorOf },
        {
          title: 'End',
          cell: (row) =>
            html`<button
              type="button"
              disabled=${reason !== undefined}
              aria-describedby=${reason && 'why'}
              onClick=${() => setEnding(row)}
            >
              End now<span class="unseen"> ${changeOf(row)} of ${row.operation}</span>
            </button>`,
        },
      ]}
    />
    <h3>Latest changes</h3>
    <p class="muted">The <a href="#/audit">Audit page</a> lists all changes, including those that were refused.</p>
    <${Table}
      caption="The latest changes"
      kind="cards"
      rows=${data.events}
      keyOf=${(row) => `${row.at} ${row.event} ${row.operation} ${nameOf(row)}`}
      empty="No override has been set yet."
      columns=${[
        { title: 'Time', head: true, sort: (row) => Date.parse(row.at), cell: (row) => dateTime(Date.parse(row.at)) },
        { title: 'Event', sort: (row) => row.event, cell: (row) => row.event },
        { title: 'Operation', sort: (row) => row.operation, cell: (row) => row.operation },
        { title: 'Change', sort: nameOf, cell: changeOf },
        {
          title: 'Until',
          sort: (row) => Date.parse(row.until),
          cell: (row) => html`<span class="time">${dateTime(Date.parse(row.until))}</span>`,
        },
        { title: 'Reason', cell: (row) => row.reason },
        {
          title: 'By',
          cell: (row) => (row.event === 'expired' ? NONE : operatorOf(row.endedBy ?? row)),
        },
      ]}
    />
    ${
      adding &&
      html`<${Add}
        operations=${status.operations}
        checks=${data.checks}
        onDone=${(result, operation) => {
          setAdding(false);
          done(result, `The override of ${operation} is set.`);
        }}
        onClose=${() => setAdding(false)}
      />`
    }
    ${
      ending &&
      html`<${Confirm}
        title="End the override?"
        text=${`${changeOf(ending)} of ${ending.operation} ends now. Requests in progress finish as they began.`}
        action="End now"
        onConfirm=${end}
        onClose=${() => setEnding(undefined)}
      />`
    }
  `;
}

/** Returns the options for a select element, with one of them selected. */
const options = (values, chosen) =>
  values.map(
    ([value, label]) => html`<option key=${value} value=${value} selected=${value === chosen}>${label}</option>`,
  );
const pairs = (words) => words.map((word) => [word, word]);

/** The form for a new override. `checks` are the checks whose level it can change. */
function Add({ operations, checks, onDone, onClose }) {
  const changes = [...checks.map((check) => [check, `Level of ${check}`]), ...OTHER_CHANGES];
  const [change, setChange] = useState(checks[0]);
  const send = ({ forMinutes, maxStaleSeconds, ...form }) =>
    post('levels', {
      ...form,
      ...(change === 'disable' || change === 'force-stale' ? { kind: change } : { kind: 'level', check: change }),
      ...(maxStaleSeconds !== undefined && { maxStaleSeconds: Number(maxStaleSeconds) }),
      forMinutes: Number(forMinutes),
    });
  const done = (result, form) => onDone(result, form.operation);
  return html`<${FormDialog} title="Set an override" action="Set" send=${send} onDone=${done} onClose=${onClose}>
    ${(field) => html`
      ${field(
        'operation',
        'Operation',
        (more) =>
          html`<select autofocus required ...${more}>
            ${options([['', 'Choose an operation'], ...pairs(operations)])}
          </select>`,
      )}
      <label class="field">
        <span>Change</span>
        <select onChange=${(event) => setChange(event.currentTarget.value)}>
          ${options(changes, change)}
        </select>
      </label>
      ${
        change === 'force-stale'
          ? field(
              'maxStaleSeconds',
              'How stale may responses be, in seconds?',
              (more) => html`<input type="number" min="1" max="604800" defaultValue="86400" required ...${more} />`,
            )
          : change !== 'disable' &&
            field(
              'level',
              'Level',
              (more) =>
                html`<select ...${more}>
                  ${options(pairs(LEVELS))}
                </select>`,
            )
      }
      ${field(
        'forMinutes',
        'For how long?',
        (more) =>
          html`<select ...${more}>
            ${options(MINUTES, 60)}
          </select>`,
      )}
      ${field('reason', 'Why?', (more) => html`<input maxlength="500" required autocomplete="off" ...${more} />`)}
      ${field('by', 'Your name (optional)', (more) => html`<input maxlength="100" autocomplete="name" ...${more} />`)}
    `}
  <//>`;
}

/** Returns the name of the change that an override makes. An operation has at most one override with a given name. */
const nameOf = (row) => (row.kind === 'level' ? row.check : row.kind);

/** Describes the change that an override makes. */
function changeOf(row) {
  if (row.kind === 'level') return `${row.check}=${row.level}`;
  return row.kind === 'force-stale' ? `force-stale up to ${count(row.maxStaleSeconds)} s` : row.kind;
}

const operatorOf = ({ by, from }) => [by, from].filter((part) => part !== undefined).join(', ') || NONE;

const remaining = ({ until }, now) => Math.max(0, (Date.parse(until) - now) / 1000);
