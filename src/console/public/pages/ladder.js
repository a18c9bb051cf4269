import { post } from '../lib/api.js';
import { Confirm } from '../lib/confirm.js';
import { age, count, dateTime } from '../lib/format.js';
import { html, useState } from '../lib/html.js';
import { useKeptFocus } from '../lib/keep-focus.js';
import { usePoll } from '../lib/poll.js';
import { setQuery } from '../lib/route.js';
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
    button: 'Revert the promotion',
    title: 'Revert the promotion?',
    after: 'The check will not be promoted again for the same contract.',
  },
};

/**
 * The page that shows the level of each check for each operation, and the next step (from off to report to enforce).
 */
export function LadderPage({ query, status, shownError, announce }) {
  const { data, error, refresh } = usePoll('ladder');
  const [lifting, setLifting] = useState(/** @type {any} */ (undefined));
  const [problem, setProblem] = useState(/** @type {import('../lib/api.js').ApiError | undefined} */ (undefined));
  const keepFocus = useKeptFocus(data);
  if (data === undefined)
    return html`<h1>Ladder</h1>
      <${Reading} error=${error} shownError=${shownError} />`;
  const check = query.check ?? '';
  const checks = [...new Set(data.rows.map((row) => row.check))];
  const rows = data.rows.filter((row) => check === '' || row.check === check);
  const lift = async () => {
    try {
      await post('ladder/lift', { operation: lifting.operation, check: lifting.check });
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
    <div class="heading">
      <h1>Ladder</h1>
      <form class="row" onSubmit=${(event) => event.preventDefault()}>
        <label>
          <span>Check</span>
          <select value=${check} onChange=${(event) => setQuery(['ladder'], { check: event.currentTarget.value })}>
            <option value="">any</option>
            ${checks.map((name) => html`<option value=${name} key=${name}>${name}</option>`)}
          </select>
        </label>
      </form>
    </div>
    <p class="muted">
      The level of each check (off, report, enforce), and the counts of the last ${age(data.windowHours * 3600)} that
      justify the next step. Levels are set in the configuration; only <code>responses</code> is ever demoted
      automatically.
    </p>
    ${status.readOnlyReason && html`<p class="muted" id="why">${status.readOnlyReason}</p>`}
    <${Trouble} error=${problem ?? error} shownError=${shownError} />
    <${Table}
      caption="Enforcement by operation and check"
      rows=${rows}
      keyOf=${(row) => `${row.operation} ${row.check}`}
      sorted=${{ index: 6, down: false }}
      columns=${[
        { title: 'Operation', head: true, sort: (row) => row.operation, cell: (row) => row.operation },
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
        action="Revert"
        onConfirm=${lift}
        onClose=${() => setLifting(undefined)}
      />`
    }
  `;
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
