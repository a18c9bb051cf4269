import { html, useRef, useState } from './html.js';

/**
 * A table in a region that scrolls horizontally if necessary. `columns` has entries of the form `{ title, cell(row),
 * number?, sort?(row), sortedBy?, head? }`. `head` marks the column that contains the row headers. `classOf(row)` returns
 * the class of a row.
 *
 * The table sorts its rows by `sort`. If the rows are already sorted, `sorting` has the form `{ by, down, choose(by,
 * down) }`, and `by` is the `sortedBy` of a column.
 *
 * If `steady` is set, rows keep their positions while the pointer or the focus is in the table, so that a refresh never
 * moves a row that an operator is about to click. The value of `steady` identifies the list, so a different list's rows
 * appear immediately.
 */
export function Table({
  caption,
  columns,
  rows,
  keyOf,
  classOf,
  empty = 'No data.',
  sorted,
  sorting,
  steady,
  kind = '',
}) {
  const [own, setOwn] = useState(sorted ?? { index: -1, down: true });
  const sortedColumn = sorting === undefined ? own.index : columns.findIndex(({ sortedBy }) => sortedBy === sorting.by);
  const order = { index: sortedColumn, down: sorting?.down ?? own.down };
  const fresh =
    sorting !== undefined || sortedColumn < 0 ? rows : sortRows(rows, columns[sortedColumn].sort, order.down);
  const { shown, isHeld, hold } = useSteadyRows(fresh, keyOf, steady && `${steady} ${sortedColumn} ${order.down}`);
  const toggle = (to) => {
    const down = order.index === to ? !order.down : true;
    if (sorting === undefined) setOwn({ index: to, down });
    else sorting.choose(columns[to].sortedBy, down);
  };
  return html`<div class="scroll" role="region" aria-label=${caption} tabindex="0" ...${hold}>
    <table class=${kind}>
      <caption class="unseen">
        ${caption}
      </caption>
      <thead>
        <tr>
          ${columns.map(
            ({ title, number, sort, sortedBy }, index) =>
              html`<th
                scope="col"
                key=${title}
                class=${number ? 'number' : undefined}
                aria-sort=${order.index === index ? (order.down ? 'descending' : 'ascending') : undefined}
              >
                ${
                  (sorting === undefined ? sort : sortedBy) === undefined
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
            html`<tr key=${keyOf(row)} class=${classOf?.(row)}>
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
    ${isHeld && html`<p class="held muted">The list has changed. It is updated when the pointer leaves it.</p>`}
  </div>`;
}

/**
 * Returns the rows to show and the event handlers that detect the pointer and the focus. `isHeld` is true if the new
 * rows are different or in a different order.
 */
function useSteadyRows(fresh, keyOf, steady) {
  const [inside, setInside] = useState({ pointer: false, focus: false });
  const before = useRef({ steady, rows: fresh });
  const holds = steady && before.current.steady === steady && (inside.pointer || inside.focus);
  const latest = new Map(fresh.map((row) => [keyOf(row), row]));
  const rows = holds ? before.current.rows.map((row) => latest.get(keyOf(row)) ?? row) : fresh;
  before.current = { steady, rows };
  const set = (change) => setInside((known) => ({ ...known, ...change }));
  return {
    shown: rows,
    isHeld: rows !== fresh && rows.map(keyOf).join('\n') !== fresh.map(keyOf).join('\n'),
    hold: steady && {
      onPointerEnter: () => set({ pointer: true }),
      onPointerLeave: () => set({ pointer: false }),
      onFocusIn: ({ target }) => set({ focus: target.closest('tbody') !== null }),
      onFocusOut: () => set({ focus: false }),
    },
  };
}

const compare = (a, b) => (typeof a === 'string' ? a.localeCompare(b) : a - b);

function sortRows(rows, valueOf, down) {
  // Equal rows stay in their original order in both sort directions.
  return rows.toSorted((a, b) => (down ? compare(valueOf(b), valueOf(a)) : compare(valueOf(a), valueOf(b))));
}
