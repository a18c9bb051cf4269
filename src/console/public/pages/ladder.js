import { post } from '../lib/api.js';
import { Confirm } from '../lib/confirm.js';
import { count, dateTime } from '../lib/format.js';
import { html, useState } from '../lib/html.js';
import { usePoll } from '../lib/poll.js';
import { setQuery } from '../lib/route.js';
import { Table } from '../lib/table.js';

/** Each check of each operation on its way from off over report to enforce. */
export function LadderPage({ query, status, announce }) {
  const { data, error, refresh } = usePoll('ladder');
  const [lifting, setLifting] = useState(undefined);
  const [problem, setProblem] = useState(undefined);
  if (data === undefined)
    return html`<h1 tabindex="-1">Ladder</h1>
      <p class=${error ? 'note bad' : 'muted'}>${error?.message ?? 'Reading…'}</p>`;
  const check = query.check ?? '';
  const checks = [...new Set(data.rows.map((row) => row.check))];
  const rows = data.rows.filter((row) => check === '' || row.check === check);
  const lift = async () => {
    try {
      await post('ladder/lift', { operation: lifting.operation, check: lifting.check });
      announce(`The demotion of ${lifting.check} for ${lifting.operation} is lifted.`);
      setProblem(undefined);
    } catch (failure) {
      setProblem(failure);
    }
    setLifting(undefined);
    refresh();
  };
  return html`
    <div class="heading">
      <h1 tabindex="-1">Ladder</h1>
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
      Off, report, enforce: how far each check goes, and the numbers of the last ${count(data.windowHours)} hours that
      justify the next step. Levels are set in the configuration; only <code>responses</code> falls back by itself.
    </p>
    ${problem && html`<p class="note bad" role="alert">${problem.message}</p>`}
    <${Table}
      caption="Enforcement by operation and check"
      rows=${rows}
      keyOf=${(row) => `${row.operation} ${row.check}`}
      columns=${[
        { title: 'Operation', head: true, sort: (row) => row.operation, cell: (row) => row.operation },
        { title: 'Check', sort: (row) => row.check, cell: (row) => row.check },
        { title: 'Level', cell: levelOf },
        { title: 'Clean', number: true, sort: (row) => row.clean, cell: (row) => count(row.clean) },
        {
          title: 'Would be refused',
          number: true,
          sort: (row) => row.wouldHaveRefused,
          cell: (row) => count(row.wouldHaveRefused),
        },
        { title: 'Next step', cell: (row) => html`${row.next}${demotion(row, data.liftable, status, setLifting)}` },
      ]}
    />
    ${
      lifting &&
      html`<${Confirm}
        title="Lift the demotion?"
        text=${`${lifting.check} of ${lifting.operation} is enforced again, as it is configured. Should too many answers fail once more, it falls back again.`}
        action="Lift"
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

function demotion(row, liftable, status, onLift) {
  if (row.demoted === undefined) return null;
  const reason = status.readOnlyReason;
  return html`<p class="muted">Demoted ${dateTime(row.demoted.at)}: ${row.demoted.reason}</p>
    ${
      liftable &&
      html`<button type="button" disabled=${reason !== undefined} title=${reason} onClick=${() => onLift(row)}>
        Lift the demotion<span class="unseen"> of ${row.check} for ${row.operation}</span>
      </button>`
    }`;
}
