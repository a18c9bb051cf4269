import { post } from '../lib/api.js';
import { Confirm, FormDialog } from '../lib/confirm.js';
import { dateTime, NONE } from '../lib/format.js';
import { html, useState } from '../lib/html.js';
import { useKeptFocus } from '../lib/keep-focus.js';
import { usePoll } from '../lib/poll.js';
import { Table } from '../lib/table.js';
import { Reading, Trouble } from '../lib/trouble.js';
import { Unstored } from '../lib/unstored.js';

const STATES = { valid: 'good', ended: '', revoked: 'bad' };

/** The page that lists the tokens, with buttons for creating, replacing and revoking them. */
export function Page({ status, shownError, announce }) {
  const { data, error, refresh } = usePoll('tokens');
  const [asking, setAsking] = useState(/** @type {any} */ (undefined));
  const [issued, setIssued] = useState(/** @type {any} */ (undefined));
  const [problem, setProblem] = useState(/** @type {import('../lib/api.js').ApiError | undefined} */ (undefined));
  const [unstored, setUnstored] = useState(false);
  const keepFocus = useKeptFocus(data);
  if (data === undefined)
    return html`<h1>Tokens</h1>
      <${Reading} error=${error} shownError=${shownError} />`;
  const reason = status.readOnlyReason;
  const done = (result, text) => {
    announce(text);
    setAsking(undefined);
    setProblem(undefined);
    setUnstored(!result.stored);
    if (result.token !== undefined) setIssued(result);
    refresh();
    keepFocus();
  };
  const change = async (path, row, text) => {
    try {
      done(await post(`tokens/${path}`, { id: row.id }), text);
    } catch (failure) {
      setProblem(/** @type {import('../lib/api.js').ApiError} */ (failure));
      setAsking(undefined);
      refresh();
    }
  };
  const button = (label, row, kind) =>
    html`<button type="button" disabled=${reason !== undefined} onClick=${() => setAsking({ kind, row })}>
      ${label}<span class="unseen"> ${row.id}</span>
    </button>`;
  return html`
    <div class="heading">
      <h1>Tokens</h1>
      <div class="row">
        <button
          type="button"
          disabled=${reason !== undefined}
          aria-describedby="why"
          onClick=${() => setAsking({ kind: 'create' })}
        >
          Create a token
        </button>
      </div>
    </div>
    <p id="why" class="muted">
      ${reason ?? 'A token stands for an account, and never lets a client do more than the account. Clients send it instead of a password.'}
    </p>
    <${Trouble} error=${problem ?? error} shownError=${shownError} />
    ${unstored && html`<${Unstored} />`}
    ${
      issued &&
      html`<div class="note" role="status">
        <p>This is token ${issued.created.id}. It is shown only here and only now:</p>
        <p><code>${issued.token}</code></p>
        <button type="button" onClick=${() => setIssued(undefined)}>I have stored it</button>
      </div>`
    }
    <${Table}
      caption="Tokens"
      kind="cards"
      rows=${data.tokens}
      keyOf=${(row) => row.id}
      empty="There are no tokens."
      columns=${[
        { title: 'Id', head: true, sort: (row) => row.id, cell: (row) => html`<code>${row.id}</code>` },
        { title: 'For', sort: (row) => row.for, cell: (row) => row.for },
        { title: 'May', cell: restrictionsOf },
        {
          title: 'State',
          sort: (row) => row.state,
          cell: (row) => html`<span class=${`badge ${STATES[row.state]}`}>${row.state}</span>`,
        },
        { title: 'Ends', sort: (row) => Date.parse(row.ends), cell: (row) => timeOf(row.ends) },
        { title: 'Last used', sort: (row) => Date.parse(row.lastUsed ?? 0), cell: (row) => timeOf(row.lastUsed) },
        { title: 'Note', cell: (row) => row.note ?? NONE },
        {
          title: 'Change',
          cell: (row) =>
            row.state !== 'valid'
              ? NONE
              : html`<span class="row">
                  ${button('Replace', row, 'rotate')} ${button('Revoke', row, 'revoke')}
                  ${row.enrolled && button('Remove the password of', row, 'unenroll')}
                </span>`,
        },
      ]}
    />
    ${
      asking?.kind === 'create' &&
      html`<${Create}
        maxDays=${data.maxDays}
        onDone=${(result) => done(result, `The token ${result.created.id} is created.`)}
        onClose=${() => setAsking(undefined)}
      />`
    }
    ${
      asking?.kind === 'rotate' &&
      html`<${Confirm}
        title="Replace the token?"
        text=${`A new token with the same rights is created, and ${asking.row.id} ends in 24 hours.`}
        action="Replace"
        onConfirm=${() => change('rotate', asking.row, `The token ${asking.row.id} is replaced.`)}
        onClose=${() => setAsking(undefined)}
      />`
    }
    ${
      asking?.kind === 'revoke' &&
      html`<${Confirm}
        title="Revoke the token?"
        text=${`Requests with ${asking.row.id} are refused from now on. This cannot be undone.`}
        action="Revoke"
        onConfirm=${() => change('revoke', asking.row, `The token ${asking.row.id} is revoked.`)}
        onClose=${() => setAsking(undefined)}
      />`
    }
    ${
      asking?.kind === 'unenroll' &&
      html`<${Confirm}
        title="Remove the password?"
        text=${`Requests with ${asking.row.id} that need the password of ${asking.row.for} are then refused.`}
        action="Remove"
        onConfirm=${() => change('unenroll', asking.row, `The password of ${asking.row.id} is removed.`)}
        onClose=${() => setAsking(undefined)}
      />`
    }
  `;
}

/** Sends the form for a new token. */
const send = ({ scope, operations, networks, expiresDays, ...form }) =>
  post('tokens', {
    ...form,
    scope: listOf(scope),
    ...(operations !== '' && { operations: listOf(operations) }),
    ...(networks !== '' && { networks: listOf(networks) }),
    expiresDays: Number(expiresDays),
  });

/** The form for a new token. */
function Create({ maxDays, onDone, onClose }) {
  return html`<${FormDialog} title="Create a token" action="Create" send=${send} onDone=${onDone} onClose=${onClose}>
    ${(field) => html`
      ${field('for', 'For which account?', (more) => html`<input autofocus required maxlength="256" autocomplete="off" ...${more} />`)}
      ${field('scope', 'Permissions, groups and flags of the account that the token keeps, separated by commas', (more) => html`<input required autocomplete="off" ...${more} />`)}
      ${field('expiresDays', 'Valid for how many days?', (more) => html`<input type="number" min="1" max=${maxDays} defaultValue=${Math.min(90, maxDays)} required ...${more} />`)}
      ${field('operations', 'Only for these operations, separated by commas (optional)', (more) => html`<input autocomplete="off" ...${more} />`)}
      ${field('networks', 'Only from these networks, separated by commas (optional)', (more) => html`<input autocomplete="off" ...${more} />`)}
      ${field('note', 'What is it for? (optional)', (more) => html`<input maxlength="200" autocomplete="off" ...${more} />`)}
    `}
  <//>`;
}

const listOf = (text) =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

const timeOf = (text) => (text === undefined ? NONE : html`<span class="time">${dateTime(Date.parse(text))}</span>`);

function restrictionsOf({ scope, operations, networks, enrolled }) {
  const more = [
    operations && `only ${operations.join(', ')}`,
    networks && `from ${networks.join(', ')}`,
    enrolled && 'password enrolled',
  ].filter(Boolean);
  return html`${scope.join(', ')} ${more.length > 0 && html`<small>${more.join('; ')}</small>`}`;
}
