import { html, useState } from '../lib/html.js';
import { Provenance, Words } from './prose.js';

const REF = '#/components/schemas/';

/**
 * Resolves a schema. If the schema is a reference, the result is the referenced component, overridden by the members
 * next to the reference. Otherwise, it is the schema itself.
 */
export function resolved(schema, schemas) {
  let found = schema;
  for (let step = 0; step < 20 && typeof found?.$ref === 'string'; step += 1) {
    const { $ref, ...siblings } = found;
    found = { ...schemas[$ref.replace(REF, '')], ...siblings };
  }
  return found ?? {};
}

/** Returns the name of the component that a schema refers to, or undefined. */
export const nameOf = (schema) => (typeof schema?.$ref === 'string' ? schema.$ref.replace(REF, '') : undefined);

/**
 * Returns a short description of a schema's type, such as `integer (int64)`, `array of Comment` or `string or null`.
 */
export function typeText(schema, schemas) {
  if (schema === false) return 'not allowed';
  if (schema === true) return 'anything';
  const { type, format, items, anyOf, oneOf, allOf, not } = resolved(schema, schemas);
  const options = anyOf ?? oneOf;
  if (options !== undefined)
    return [...new Set(options.map((one) => nameOf(one) ?? typeText(one, schemas)))].join(' or ');
  if (type === undefined && allOf !== undefined)
    return allOf.map((one) => nameOf(one) ?? typeText(one, schemas)).join(' and ');
  if (type === undefined) return not === undefined ? 'anything' : 'anything, with exceptions';
  const words = [type].flat();
  if (items !== undefined)
    return words.join(' or ').replace('array', `array of ${nameOf(items) ?? typeText(items, schemas)}`);
  return `${words.join(' or ')}${format === undefined ? '' : ` (${format})`}`;
}

/** Returns a description of the bounds in a schema. */
export function boundsText(schema, schemas) {
  const at = resolved(schema, schemas);
  const bounds = [
    at.const !== undefined && `always ${JSON.stringify(at.const)}`,
    at.enum !== undefined && `one of ${at.enum.map((one) => JSON.stringify(one)).join(', ')}`,
    at.minimum !== undefined && `at least ${at.minimum}`,
    at.maximum !== undefined && `at most ${at.maximum}`,
    at.minLength !== undefined && `at least ${at.minLength} characters`,
    at.maxLength !== undefined && `at most ${at.maxLength} characters`,
    at.minItems !== undefined && `at least ${at.minItems} items`,
    at.maxItems !== undefined && `at most ${at.maxItems} items`,
    at.default !== undefined && `default ${JSON.stringify(at.default)}`,
    at.pattern !== undefined && `pattern ${at.pattern}`,
  ];
  return bounds.filter((one) => one !== false).join(', ');
}

/** Returns the fields of a schema, including the fields of all its parts. */
export function fieldsOf(schema, schemas, depth = 0) {
  const at = resolved(schema, schemas);
  const required = new Set(at.required ?? []);
  const own = Object.entries(at.properties ?? {}).map(([name, inner]) => ({
    name,
    schema: inner,
    required: required.has(name),
    // If a field does not state its provenance, the provenance of its resource applies.
    provenance: at['x-provenance'],
  }));
  const parts = depth > 6 ? [] : (at.allOf ?? []).flatMap((one) => fieldsOf(one, schemas, depth + 1));
  const merged = new Map(parts.map((field) => [field.name, field]));
  for (const field of own) merged.set(field.name, field);
  return [...merged.values()].map((field) =>
    required.has(field.name) ? Object.assign({}, field, { required: true }) : field,
  );
}

/** A list of a schema's fields. Fields can be expanded one level at a time. */
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

function Field({ name, schema, required, provenance, schemas }) {
  const at = resolved(schema, schemas);
  const bounds = boundsText(schema, schemas);
  return html`<li>
    <p class="row">
      <code class="name">${name}</code>
      <span
        >${nameOf(schema) === undefined ? typeText(schema, schemas) : `${nameOf(schema)}: ${typeText(schema, schemas)}`}</span
      >
      ${required && html`<span class="badge">required</span>`}
      <${Provenance} is=${at['x-provenance'] ?? provenance} />
      ${at['x-pii'] !== undefined && html`<span class="badge bad" title="personal data">x-pii ${at['x-pii']}</span>`}
      ${at['x-private-field'] === true && html`<span class="badge warn" title="visible to some callers only">private</span>`}
      ${at['x-since'] !== undefined && html`<span class="muted">since ${at['x-since']}</span>`}
    </p>
    ${bounds !== '' && html`<p class="muted block">${bounds}</p>`}
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

// Schemas can be recursive, so the contents of a field are rendered only when the field is opened.
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
