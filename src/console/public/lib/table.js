import { html, useState } from './html.js';

/**
 * A table in a region that scrolls horizontally if necessary. `columns` has entries of the form `{ title, cell(row),
 * number?, sort?(row), head? }`. `head` marks the column that contains the row headers.
 */
export function Table({ caption, columns, rows, keyOf, empty = 'No data.', sorted, kind = '' }) {
  const [order, setOrder] = useState(sorted ?? { index: -1, down: true });
  const shown = order.index < 0 ? rows : sortRows(rows, columns[order.index].sort, order.down);
  const toggle = (index) => setOrder(({ index: before, down }) => ({ index, down: before === index ? !down : true }));
  return html`<div class="scroll" role="region" aria-label=${caption} tabindex="0">
    <table class=${kind}>
      <caption class="unseen">
        ${caption}
      </caption>
      <thead>
        <tr>
          ${columns.map(
            ({ title, number, sort }, index) =>
              html`<th
                scope="col"
                key=${title}
                class=${number ? 'number' : undefined}
                aria-sort=${order.index === index ? (order.down ? 'descending' : 'ascending') : undefined}
              >
                ${
                  sort === undefined
                    ? title
                    : html`<button type="button" class="sort" onClick=${() => toggle(index)}>
                        ${title}<span aria-hidden="true"
                          >${order.index === index ? (order.down ? ' ↓' : ' ↑') : ''}</span
                        >
                      </button>`
                }
              </th>`,
          )}
        </tr>
      </thead>
      <tbody>
        ${shown.map(
          (row) =>
            html`<tr key=${keyOf(row)}>
              ${columns.map(({ title, cell, number, head }) =>
                head
                  ? html`<th scope="row" key=${title} data-title=${title}>${cell(row)}</th>`
                  : html`<td key=${title} data-title=${title} class=${number ? 'number' : undefined}>${cell(row)}</td>`,
              )}
            </tr>`,
        )}
        ${
          shown.length === 0 &&
          html`<tr>
            <td colspan=${columns.length} class="empty">${empty}</td>
          </tr>`
        }
      </tbody>
    </table>
  </div>`;
}

const compare = (a, b) => (typeof a === 'string' ? a.localeCompare(b) : a - b);

function sortRows(rows, valueOf, down) {
  // In both directions, equal rows stay in their original order.
  return rows.toSorted((a, b) => (down ? compare(valueOf(b), valueOf(a)) : compare(valueOf(a), valueOf(b))));
}
