import { html, useState } from '../lib/html.js';
import { Provenance, Words } from './prose.js';
import { boundsText, fieldsOf, nameOf, resolved, typeText } from './schema-values.js';

/** A list of a schema's fields, each of which can be expanded one level at a time. */
export function Schema({ schema, schemas }) {
  const at = resolved(schema, schemas);
  const options = at.anyOf ?? at.oneOf ?? [];
  const inner = at.items !== undefined && typeof at.items === 'object' ? at.items : undefined;
  const fields = fieldsOf(schema, schemas);
  return html`
    ${at.description !== undefined && html`<p class="muted"><${Words} text=${at.description} /></p>`}
    ${
      fields.length > 0 &&
      html`<ul class="fields">
        ${fields.map((field) => html`<${Field} key=${field.name} ...${field} schemas=${schemas} />`)}
      </ul>`
    }
    ${
      inner !== undefined &&
      html`<p class="muted">Each item:</p>
        <${Part} schema=${inner} schemas=${schemas} />`
    }
    ${
      options.length > 0 &&
      html`<p class="muted">One of:</p>
        ${options.map((one) => html`<${Part} schema=${one} schemas=${schemas} />`)}`
    }
  `;
}

function Field({ name, schema, required, expected, provenance, schemas }) {
  const at = resolved(schema, schemas);
  const bounds = boundsText(schema, schemas);
  return html`<li>
    <p class="row">
      <code class="name">${name}</code>
      <span
        >${nameOf(schema) === undefined ? typeText(schema, schemas) : `${nameOf(schema)}: ${typeText(schema, schemas)}`}</span
      >
      ${required && html`<span class="badge">required</span>`}
      ${!required && expected && html`<span class="badge">usually present</span>`}
      <${Provenance} is=${at['x-provenance'] ?? provenance} />
      ${at['x-pii'] !== undefined && html`<span class="badge bad">personal data: ${at['x-pii'].replaceAll('-', ' ')}</span>`}
      ${at['x-private-field'] === true && html`<span class="badge warn">visible only to some callers</span>`}
      ${at['x-since'] !== undefined && html`<span class="muted">since ${at['x-since']}</span>`}
    </p>
    ${bounds !== '' && html`<p class="muted">${bounds}</p>`}
    ${
      isOpenable(at, schemas)
        ? html`<${Part} schema=${schema} schemas=${schemas} label=${name} />`
        : at.description !== undefined && html`<p class="muted"><${Words} text=${at.description} /></p>`
    }
  </li>`;
}

// A list of plain values has no details beyond its type.
function isOpenable(at, schemas) {
  if (typeof at.items === 'object') return isOpenable(resolved(at.items, schemas), schemas);
  return [at.properties, at.anyOf, at.oneOf, at.allOf].some((one) => typeof one === 'object');
}

// Schemas can be recursive, so a field's contents are rendered only when it is opened.
function Part({ schema, schemas, label }) {
  const [open, setOpen] = useState(false);
  const at = resolved(schema, schemas);
  const text = nameOf(schema) ?? typeText(schema, schemas);
  if (!isOpenable(at, schemas))
    return html`<p class="part">${text} <span class="muted block">${boundsText(schema, schemas)}</span></p>`;
  return html`<details class="part" onToggle=${(event) => setOpen(event.currentTarget.open)}>
    <summary>${label === undefined ? text : `Fields of ${label}`}</summary>
    ${open && html`<${Schema} schema=${schema} schemas=${schemas} />`}
  </details>`;
}
