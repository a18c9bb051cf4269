import { Accept } from '../lib/accept.js';
import { post } from '../lib/api.js';
import { Confirm } from '../lib/confirm.js';
import { count, dateTime, NONE, percent } from '../lib/format.js';
import { html, useState } from '../lib/html.js';
import { OperationLinks } from '../lib/operation-links.js';
import { usePoll } from '../lib/poll.js';
import { Table } from '../lib/table.js';
import { Reading, Trouble } from '../lib/trouble.js';
import { hrefOf } from '../lib/route.js';
import { Hours, stateOf } from './violation-cells.js';

/** The page that shows one violation: its location, its counts, sample requests, and a form for accepting it. */
export function Violation({ words, status, shownError, announce }) {
  const fingerprint = words[1];
  const { data, error, refresh } = usePoll(`violations/${encodeURIComponent(fingerprint)}`);
  const [accepting, setAccepting] = useState(false);
  const [withdrawing, setWithdrawing] = useState(false);
  const [problem, setProblem] = useState(/** @type {import('../lib/api.js').ApiError | undefined} */ (undefined));
  if (data === undefined)
    return html`<h1>Violation</h1>
      <${Reading} error=${error} shownError=${shownError} />
      <p><a href="#/violations">All violations</a></p>`;
  const reason = status.readOnlyReason ?? data.acceptance.reason;
  const done = () => {
    setAccepting(false);
    announce('The violation is accepted.');
    refresh();
  };
  const withdraw = async () => {
    try {
      await post(`violations/${encodeURIComponent(fingerprint)}/withdraw`, {});
      announce('The acceptance is withdrawn.');
      setProblem(undefined);
    } catch (failure) {
      setProblem(/** @type {import('../lib/api.js').ApiError} */ (failure));
    }
    setWithdrawing(false);
    refresh();
  };
  return html`
    <p><a href="#/violations">All violations</a></p>
    <h1>${data.message}</h1>
    <${Trouble} error=${problem ?? error} shownError=${shownError} />
    <p class="row">${stateOf(data)} <span class="badge">${data.category}</span> <code>${data.fingerprint}</code></p>
    ${data.accepted && html`<${Accepted} accepted=${data.accepted} file=${data.acceptance.file} />`}
    <div class="row">
      <button
        type="button"
        class="primary"
        disabled=${reason !== undefined}
        aria-describedby="why"
        onClick=${() => setAccepting(true)}
      >
        ${data.accepted ? 'Change the acceptance' : 'Add to the baseline'}
      </button>
      ${
        data.accepted &&
        html`<button
          type="button"
          disabled=${reason !== undefined}
          aria-describedby="why"
          onClick=${() => setWithdrawing(true)}
        >
          Withdraw the acceptance
        </button>`
      }
      <span id="why" class="muted">${reason ?? `It will be written to ${data.acceptance.file}.`}</span>
    </div>
    ${accepting && html`<${Accept} data=${data} onDone=${done} onClose=${() => setAccepting(false)} />`}
    ${
      withdrawing &&
      html`<${Confirm}
        title="Withdraw the acceptance?"
        text=${`The violation counts as new again. Its entry is removed from ${data.acceptance.file}.`}
        action="Withdraw"
        onConfirm=${withdraw}
        onClose=${() => setWithdrawing(false)}
      />`
    }
    <div class="columns">
      <section class="card">
        <h2>Location</h2>
        <${Facts}
          facts=${[
            ['Operation', operationOf(data, status)],
            ['Direction', data.direction],
            ['Check', data.check],
            ['Upstream status', data.status ?? NONE],
            data.keyword === 'permission-denied'
              ? ['Required permission', html`<code>${data.at === '' ? NONE : data.at}</code>`]
              : ['Place', html`${data.location} <code>${data.at === '' ? '(entire)' : data.at}</code>`],
            ['Rule', html`<code>${data.keyword}</code>`],
            [
              'Line in the contract',
              html`<code>${data.place.file}${data.place.line === undefined ? '' : `:${data.place.line}`}</code>
                <small class="path">${data.place.pointer}</small>`,
            ],
            ...(data.suggestion === undefined ? [] : [['Suggestion', html`<code>${data.suggestion}</code>`]]),
            ...(data.candidate === undefined ? [] : [['Shadow contract', data.candidate]]),
          ]}
        />
      </section>
      <section class="card">
        <h2>Frequency</h2>
        <${Facts}
          facts=${[
            ['Occurrences', count(data.count)],
            ['Share of the operation’s requests', percent(data.share)],
            ['Callers', data.callers === 0 ? NONE : `about ${count(data.callers)}`],
            ['Last 24 hours', html`<${Hours} history=${data.history} />`],
            ['First seen', dateTime(data.firstSeenAt)],
            ['First release', data.history?.firstRelease ?? NONE],
            ['Last seen', dateTime(data.lastSeenAt)],
            [
              'Releases',
              Object.entries(data.releases)
                .map(([name, seen]) => `${name} (${count(seen)})`)
                .join(', ') || NONE,
            ],
          ]}
        />
      </section>
    </div>
    <h2>Fix</h2>
    <p>${data.fix.advice}${data.fix.overlay.length > 0 ? ':' : ''}</p>
    ${
      data.fix.overlay.length > 0 &&
      html`<pre class="card" tabindex="0" aria-label="Overlay">${data.fix.overlay.join('\n')}</pre>`
    }
    <h2>Sample requests</h2>
    <${Table}
      caption="Sample requests"
      kind="cards"
      rows=${data.samples.toReversed()}
      keyOf=${(sample) => `${sample.requestId} ${sample.seenAt}`}
      empty="No sample requests are stored."
      columns=${[
        { title: 'Request id', head: true, cell: (sample) => html`<code>${sample.requestId}</code>` },
        { title: 'Seen', cell: (sample) => dateTime(sample.seenAt) },
        { title: 'Observed value', cell: (sample) => sample.found ?? NONE },
      ]}
    />
    <p class="muted">
      Values are never stored; samples only describe them. The access log contains a line for each request id.
    </p>
  `;
}

function operationOf({ operation }, { operations }) {
  if (operation === undefined)
    return html`not in the contract
      <span class="links"><a href=${hrefOf(['violations'], { operation: 'undocumented' })}>Violations</a></span>`;
  return html`${operation}${operations.includes(operation) && html` <${OperationLinks} operation=${operation} />`}`;
}

function Facts({ facts }) {
  return html`<dl class="facts">
    ${facts.map(
      ([name, value]) =>
        html`<div key=${name}>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;
}

function Accepted({ accepted: { reason, owner, expires, expired }, file }) {
  const until =
    expires === undefined ? 'without an expiry date' : expired ? `until ${expires} (expired)` : `until ${expires}`;
  return html`<p class=${`note ${expired ? 'bad' : 'good'}`}>
    Accepted by ${owner} ${until}: ${reason} <span class="muted">(${file})</span>
  </p>`;
}
