import { html } from '../lib/html.js';
import { wrappedPath } from '../lib/wrapped.js';
import { OperationLinks } from '../lib/operation-links.js';
import { Prose, Provenance, Words } from './prose.js';
import { pretty } from './sample.js';
import { Schema } from './schema.js';
import { boundsText, nameOf, typeText } from './schema-values.js';
import { TryForm } from './try.js';

/** One operation in the API docs: its parameters, permissions and responses, and a form for trying it. */
export function Operation({ operation, contract, credential }) {
  const { id, method, path, summary, description, since, provenance } = operation;
  return html`<article class="card operation" id=${id} aria-labelledby=${`${id}-title`}>
    <h3 id=${`${id}-title`} tabindex="-1"><a href=${`#${id}`}>${summary}</a></h3>
    <p class="row address">
      <span class="badge method">${method}</span><code>${wrappedPath(contract.publicBasePath + path)}</code>
    </p>
    <p class="row">
      <code>${id}</code><${Provenance} is=${provenance} />
      ${since !== undefined && html`<span class="muted">since ${since}</span>`}
    </p>
    <${OperationLinks} operation=${id} without="API docs" home="./" />
    <${Prose} text=${description} />
    <${Facts} operation=${operation} known=${contract.checks} />
    <${Parameters} operation=${operation} schemas=${contract.schemas} />
    ${
      operation.requestBody !== undefined &&
      html`<h4>Body ${operation.requestBody.required && html`<span class="badge">required</span>`}</h4>
        <${Contents} content=${operation.requestBody.content} schemas=${contract.schemas} />
        <${Rules} rules=${operation.requestRules} />`
    }
    <h4>Responses</h4>
    ${operation.responses.map(
      (response) =>
        html`<details key=${response.status} class="response">
          <summary><strong>${response.status}</strong> <${Words} text=${response.description} /></summary>
          <p class="row">
            <${Provenance} is=${response['x-provenance']} />
            <${Provenance} is=${response['x-status-provenance']} of="status" />
            ${response['x-since'] !== undefined && html`<span class="muted">since ${response['x-since']}</span>`}
          </p>
          ${
            response['x-documented-text'] !== undefined &&
            html`<p>Documented text: <q>${response['x-documented-text']}</q></p>`
          }
          <${Contents} content=${response.content} schemas=${contract.schemas} />
        </details>`,
    )}
    <${Rules} rules=${operation.responseRules} />
    <${TryForm} operation=${operation} contract=${contract} credential=${credential} />
  </article>`;
}

function Facts({ operation, known }) {
  const { requires, requiresProvenance, needsCredential, cache, paging, purges, checks, unknownParameters } = operation;
  const facts = [
    ['Required permissions', html`${requires} <${Provenance} is=${requiresProvenance} />`],
    [
      'Sign-in',
      needsCredential
        ? 'required, even if anonymous callers are allowed'
        : 'required unless anonymous callers are allowed',
    ],
    operation.needsFeature !== undefined && ['Required feature', operation.needsFeature],
    ['Refused if wrong', checksAt(known, checks, 'enforce')],
    ['Only counted if wrong', checksAt(known, checks, 'report')],
    [
      'Unknown parameters',
      unknownParameters === 'refuse' && checks.requests === 'enforce' ? 'refused' : 'counted, not refused',
    ],
    paging !== undefined && ['Pages', pagesText(paging)],
    ['Stored responses', cacheText(cache)],
    purges.length > 0 && ['After a success', `stored responses with these tags are removed: ${purges.join(', ')}`],
    [
      'Service account',
      operation.identityIndependent
        ? 'may be used instead of the caller’s credential'
        : 'never used: the caller’s own credential is sent',
    ],
  ];
  return html`<dl class="facts">
    ${facts
      .filter((one) => one !== false)
      .map(
        ([term, value]) =>
          html`<div key=${term}>
            <dt>${term}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
  </dl>`;
}

/** Names the checks that have a level. `known` are the checks of operations, with the words for them. */
function checksAt(known, levels, wanted) {
  const found = known.filter(({ name }) => levels[name] === wanted);
  return found.map(({ words }) => words).join(', ') || 'none';
}

function pagesText({ firstPage, observedPageSize, hasPageCount }) {
  const size = observedPageSize === undefined ? '' : `, ${observedPageSize} items by default`;
  return `starting at ${firstPage}${size}${hasPageCount ? '' : ', no pageCount in responses'}`;
}

function cacheText(cache) {
  if (cache === undefined) return 'never';
  return `${cache.byDefault ? 'used if the cache is enabled' : 'used only if enabled for this operation'}; tags ${cache.tags.join(', ')}`;
}

function Parameters({ operation: { parameters, id }, schemas }) {
  if (parameters.length === 0)
    return html`<h4>Parameters</h4>
      <p class="muted">None.</p>`;
  return html`<h4>Parameters</h4>
    <div class="scroll" tabindex="0" role="region" aria-label=${`Parameters of ${id}`}>
      <table class="cards">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">In</th>
            <th scope="col">Type and bounds</th>
            <th scope="col">Known from</th>
            <th scope="col">Description</th>
          </tr>
        </thead>
        <tbody>
          ${parameters.map(
            (one) =>
              html`<tr key=${`${one.in}:${one.name}`}>
                <th scope="row"><code>${one.name}</code></th>
                <td data-title="In">${one.in}</td>
                <td data-title="Type">
                  ${typeText(one.schema, schemas)}
                  <small class="path">${boundsText(one.schema, schemas)}</small>
                </td>
                <td data-title="Known from">
                  <${Provenance} is=${one['x-provenance']} />
                  <${Provenance} is=${one['x-bounds-provenance']} of="bounds" />
                </td>
                <td data-title="Description">
                  <${Words} text=${one.description ?? ''} />
                  ${one['x-single'] === true && html` <span class="muted">Must not be repeated.</span>`}
                  ${one['x-acceptance'] === 'report' && html` <span class="muted">Not in the specification, but accepted.</span>`}
                  ${one.example !== undefined && html` <span class="muted">Example: <code>${String(one.example)}</code></span>`}
                </td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}

function Contents({ content, schemas }) {
  return content.map(
    ({ mediaType, schema, examples, 'x-breaks-contract': breaks }) =>
      html`<div key=${mediaType}>
        <p class="row">
          <code>${mediaType}</code> <span>${nameOf(schema) ?? typeText(schema, schemas)}</span>
          ${breaks === true && html`<span class="badge bad">observed, but violates the contract</span>`}
        </p>
        <${Schema} schema=${schema} schemas=${schemas} />
        ${examples.map(
          ({ name, value, summary }) =>
            html`<details key=${name}>
              <summary>Example: ${summary ?? name}</summary>
              <pre tabindex="0" aria-label=${`Example ${name}`}>${pretty(value)}</pre>
            </details>`,
        )}
      </div>`,
  );
}

function Rules({ rules }) {
  if (rules.length === 0) return null;
  return html`<p class="muted">Rules in addition to the schema:</p>
    <ul>
      ${rules.map(({ name, text }) => html`<li key=${name}><${Words} text=${text} /></li>`)}
    </ul>`;
}
