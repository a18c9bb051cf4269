import { post } from '../lib/api.js';
import { Confirm } from '../lib/confirm.js';
import { age, count, dateTime } from '../lib/format.js';
import { html, useState } from '../lib/html.js';
import { useKeptFocus } from '../lib/keep-focus.js';
import { OperationLinks } from '../lib/operation-links.js';
import { usePoll } from '../lib/poll.js';
import { hrefOf } from '../lib/route.js';
import { Table } from '../lib/table.js';
import { Reading, Trouble } from '../lib/trouble.js';

const TONES = { ready: 'good', demoted: 'bad', 'not yet': '', enforced: '', off: 'muted' };
/** The order of the rows. Rows that need attention come first. */
const URGENCY = ['demoted', 'ready', 'not yet', 'enforced', 'off'];
const WORDS = {
  demoted: {
    button: 'Lift the demotion',
    title: 'Lift the demotion?',
    after: 'If too many responses fail again, the check will be demoted again.',
  },
  promoted: {
    button: 'Lift the promotion',
    title: 'Lift the promotion?',
    after: 'The check will not be promoted again for the same contract.',
  },
};

/**
 * The part of the page that shows the level of each check for each operation, and the next step (from off to report to enforce).
 */
export function Ladder({ query, status, shownError, announce }) {
  const { data, error, refresh } = usePoll('levels/ladder');
  const [lifting, setLifting] = useState(/** @type {any} */ (undefined));
  const [problem, setProblem] = useState(/** @type {import('../lib/api.js').ApiError | undefined} */ (undefined));
  const keepFocus = useKeptFocus(data);
  if (data === undefined)
    return html`<h2>Ladder</h2>
      <${Reading} error=${error} shownError=${shownError} />`;
  const { operation = '', check = '' } = query;
  const operations = [...new Set(data.rows.map((row) => row.operation))];
  const checks = [...new Set(data.rows.map((row) => row.check))];
  const cells = new Map(data.rows.map((row) => [`${row.operation} ${row.check}`, row]));
  const isChosen = (row) => (operation === '' || row.operation === operation) && (check === '' || row.check === check);
  const chosen = operation !== '' || check !== '';
  const rows = data.rows.filter((row) => (chosen ? isChosen(row) : isUrgent(row)));
  const lift = async () => {
    try {
      await post('levels/lift', { operation: lifting.operation, check: lifting.check });
      announce(`${lifting.check} of ${lifting.operation} is back at its configured level.`);
      setProblem(undefined);
    } catch (failure) {
      setProblem(/** @type {import('../lib/api.js').ApiError} */ (failure));
    }
    setLifting(undefined);
    keepFocus();
    refresh();
  };
  return html`
    <h2>Ladder</h2>
    <p class="muted">
      The level of each check (off, report, enforce), and the counts of the last ${age(data.windowHours * 3600)} that
      justify the next step. Levels are set in the configuration; only <code>responses</code> is ever demoted
      automatically.
    </p>
    <${Trouble} error=${problem ?? error} shownError=${shownError} />
    <${Table}
      caption="Level of each check for each operation"
      kind="matrix"
      rows=${operations.filter((id) => operation === '' || id === operation)}
      keyOf=${(id) => id}
      columns=${[
        {
          title: 'Operation',
          head: true,
          cell: (id) => html`<a href=${hrefOf(['levels'], { operation: id })}>${id}</a>`,
        },
        ...checks.map((name) => ({
          title: name,
          cell: (id) => html`<${Cell} row=${cells.get(`${id} ${name}`)} />`,
        })),
      ]}
    />
    <p class="legend muted">
      ${Object.entries(MARKS).map(
        ([kind, mark]) =>
          html`<span key=${kind}><b class=${`mark ${TONES[kind]}`} aria-hidden="true">${mark}</b> ${kind}</span>`,
      )}
    </p>
    <div class="heading">
      <h3>${titleOf(operation, check)}</h3>
      ${chosen && html`<a class="button" href=${hrefOf(['levels'])}>Show all</a>`}
    </div>
    <${Table}
      caption="Enforcement by operation and check"
      kind="cards"
      rows=${rows}
      keyOf=${(row) => `${row.operation} ${row.check}`}
      empty="No check has been demoted or promoted, and none is ready to be enforced."
      sorted=${{ index: 6, down: false }}
      columns=${[
        {
          title: 'Operation',
          head: true,
          sort: (row) => row.operation,
          cell: (row) =>
            html`${row.operation} <small><${OperationLinks} operation=${row.operation} without="Levels" /></small>`,
        },
        { title: 'Check', sort: (row) => row.check, cell: (row) => row.check },
        { title: 'Level', sort: (row) => row.effective, cell: levelOf },
        { title: 'Clean', number: true, sort: (row) => row.counts.passed, cell: (row) => count(row.counts.passed) },
        {
          title: 'Would be refused',
          number: true,
          sort: (row) => row.counts.reported,
          cell: (row) => count(row.counts.reported),
        },
        { title: 'Refused', number: true, sort: (row) => row.counts.refused, cell: (row) => count(row.counts.refused) },
        {
          title: 'Next step',
          sort: (row) => URGENCY.indexOf(row.next.kind),
          cell: (row) =>
            html`<div class="step">
              <span class=${TONES[row.next.kind]}>${row.next.text}</span>${moved(row, status, setLifting)}
            </div>`,
        },
      ]}
    />
    ${
      lifting &&
      html`<${Confirm}
        title=${WORDS[lifting.step.move].title}
        text=${`${lifting.check} of ${lifting.operation} returns to its configured level, ${lifting.configured}. ${WORDS[lifting.step.move].after}`}
        action="Lift"
        onConfirm=${lift}
        onClose=${() => setLifting(undefined)}
      />`
    }
  `;
}

// If no operation or check is selected, the details show the checks that an operator may want to change.
const isUrgent = ({ next, step }) => next.kind === 'demoted' || next.kind === 'ready' || step !== undefined;

/** The symbol for each next step, so that the matrix does not rely on color alone. */
const MARKS = { demoted: '▼', ready: '▲', 'not yet': '…', enforced: '✓', off: '–' };

function titleOf(operation, check) {
  if (operation === '' && check === '') return 'Demoted, promoted or ready';
  return [check, operation].filter((part) => part !== '').join(' of ');
}

/** A level in the matrix, with a link to the details. */
function Cell({ row }) {
  const { operation, check, effective, next } = row;
  return html`<a class="cell" href=${hrefOf(['levels'], { operation, check })} title=${next.text}
    ><b class=${`mark ${TONES[next.kind]}`} aria-hidden="true">${MARKS[next.kind]}</b> ${effective}<span class="unseen"
      >: ${check} of ${operation}, ${next.kind}</span
    ></a
  >`;
}

function levelOf({ configured, effective }) {
  const tone = { enforce: 'good', report: 'warn', off: '' }[effective];
  return html`<span class=${`badge ${tone}`}>${effective}</span>
    ${configured !== effective && html` <small class="muted">configured: ${configured}</small>`}`;
}

function moved(row, status, onLift) {
  const { step } = row;
  if (step === undefined || step.move === 'lifted') return null;
  const reason = status.readOnlyReason;
  const { judged, failed, windowSeconds, at, move } = step;
  return html`<p class="muted">
      ${dateTime(at)}: ${move} after ${count(failed)} of ${count(judged)} checks failed within ${age(windowSeconds)}.
    </p>
    <button
      type="button"
      disabled=${reason !== undefined}
      aria-describedby=${reason && 'why'}
      onClick=${() => onLift(row)}
    >
      ${WORDS[move].button}<span class="unseen"> of ${row.check} for ${row.operation}</span>
    </button>`;
}
