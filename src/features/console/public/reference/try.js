import { post } from '../lib/api.js';
import { count, plural } from '../lib/format.js';
import { html, useId, useState } from '../lib/html.js';
import { CODE, targetOf } from './code.js';
import { firstBody, firstValues, prettyBody } from './sample.js';

const SAFE = new Set(['GET', 'HEAD']);

/** A form for trying an operation. The admin listener forwards the request to the gateway's own public listener. */
export function TryForm({ operation, contract, credential }) {
  const { method, parameters, requestBody } = operation;
  const [values, setValues] = useState(() => firstValues(operation, contract.schemas));
  const [body, setBody] = useState(() => firstBody(operation, contract.schemas));
  const [language, setLanguage] = useState('curl');
  const [state, setState] = useState(/** @type {{ busy?: boolean, response?: any, error?: any }} */ ({}));
  const own = useId();
  const target = targetOf(operation, values);
  const hasBody = requestBody !== undefined;
  const allowed = contract.writable || SAFE.has(method);
  const headers = hasBody ? { 'Content-Type': 'application/json' } : {};
  const request = { method, target, headers: { Accept: 'application/json', ...headers }, ...(hasBody && { body }) };
  const code = CODE[language]({
    origin: contract.gatewayUrl,
    method,
    target: `${contract.publicBasePath}${target}`,
    user: credential.name,
    headers,
    ...(hasBody && { body }),
  });

  async function send(event) {
    event.preventDefault();
    setState({ busy: true });
    const signed = credential.name === '' ? {} : { credential };
    try {
      setState({ response: await post('try', { ...request, ...signed }) });
    } catch (error) {
      setState({ error });
    }
  }

  return html`<section class="try" aria-label=${`Try ${operation.id}`}>
    <h4>Try it</h4>
    <form onSubmit=${send}>
      <div class="filters">
        ${parameters.map(({ name, in: where, example }) => {
          const key = `${where}:${name}`;
          return html`<label key=${key} class="grow" for=${`${own}-${key}`}>
            <span>${name}${where === 'path' ? ' (path)' : ''}</span>
            <input
              id=${`${own}-${key}`}
              name=${key}
              required=${where === 'path'}
              autocomplete="off"
              placeholder=${example === undefined ? '' : String(example)}
              value=${values[key] ?? ''}
              onInput=${(event) => setValues({ ...values, [key]: event.currentTarget.value })}
            />
          </label>`;
        })}
      </div>
      ${
        hasBody &&
        html`<label class="field" for=${`${own}-body`}>
          <span>Body</span>
          <textarea
            id=${`${own}-body`}
            rows="6"
            spellcheck="false"
            value=${body}
            onInput=${(event) => setBody(event.currentTarget.value)}
          ></textarea>
        </label>`
      }
      <p class="row">
        <button class="primary" disabled=${!allowed || state.busy === true}>Send ${method}</button>
        <span class="muted">${credential.name === '' ? 'without a credential' : `as ${credential.name}`}</span>
        ${!allowed && html`<span class="muted">${contract.readOnlyReason}</span>`}
      </p>
    </form>
    <label>
      <span>The same request in</span>
      <select value=${language} onChange=${(event) => setLanguage(event.currentTarget.value)}>
        ${Object.keys(CODE).map((name) => html`<option value=${name} key=${name}>${name}</option>`)}
      </select>
    </label>
    <pre class="curl" tabindex="0" aria-label=${`The request in ${language}`}>${code}</pre>
    <div role="status">
      ${state.busy && html`<p class="muted">Waiting for the response…</p>`}
      ${state.error !== undefined && html`<p class="note bad">${state.error.message}</p>`}
      ${state.response !== undefined && html`<${TriedResponse} response=${state.response} />`}
    </div>
  </section>`;
}

function TriedResponse({ response: { status, statusText, headers, seconds, body, bytes, cut, broken, text } }) {
  const valueOf = (name) => headers.find(([one]) => one.toLowerCase() === name)?.[1];
  const tone = status < 300 ? 'good' : status < 500 ? 'warn' : 'bad';
  const contractStatus = valueOf('contract-status');
  return html`<div class="reply">
    <p class="row">
      <span class=${`badge ${tone}`}>${status} ${statusText}</span>
      <span>${Math.max(1, Math.round(seconds * 1000))} ms</span>
      <span class="muted"
        >${cut ? `more than ${count(bytes)} bytes; only the beginning is shown` : plural(bytes, 'byte')}</span
      >
      ${broken && html`<span class="badge bad">connection broken before the end</span>`}
      ${contractStatus !== undefined && html`<span>Contract-Status: <code>${contractStatus}</code></span>`}
    </p>
    <details>
      <summary>${headers.length} headers</summary>
      <dl class="facts">
        ${headers.map(
          ([name, value], index) =>
            html`<div key=${index}>
              <dt>${name}</dt>
              <dd>${value}</dd>
            </div>`,
        )}
      </dl>
    </details>
    ${
      text
        ? html`<pre tabindex="0" aria-label="Response body">${prettyBody(body, valueOf('content-type') ?? '')}</pre>`
        : html`<p class="muted">The body is not text and is not shown.</p>`
    }
  </div>`;
}
