import { post, withQuery } from '../lib/api.js';
import { Confirm } from '../lib/confirm.js';
import { age, bytes, count, percent, plural } from '../lib/format.js';
import { html, useState } from '../lib/html.js';
import { useKeptFocus } from '../lib/keep-focus.js';
import { usePoll } from '../lib/poll.js';
import { setQuery } from '../lib/route.js';
import { SearchField } from '../lib/search-field.js';
import { Table } from '../lib/table.js';
import { Reading, Trouble } from '../lib/trouble.js';

/** The page that shows the stored responses by operation and by tag, with buttons for purging them. */
export function Page({ query, status, shownError, announce }) {
  const { data: fresh, stale, error, refresh } = usePoll(withQuery('cache', query));
  const data = fresh ?? stale;
  const [purging, setPurging] = useState(/** @type {any} */ (undefined));
  const [problem, setProblem] = useState(/** @type {import('../lib/api.js').ApiError | undefined} */ (undefined));
  const keepFocus = useKeptFocus(data);
  if (data === undefined)
    return html`<h1>Cache</h1>
      <${Reading} error=${error} shownError=${shownError} />`;
  const reason = status.readOnlyReason;
  const purge = async () => {
    try {
      const { purged } = await post('cache/purge', purging.tag === undefined ? { all: true } : { tag: purging.tag });
      announce(`${plural(purged, 'response')} purged.`);
      setProblem(undefined);
    } catch (failure) {
      setProblem(/** @type {import('../lib/api.js').ApiError} */ (failure));
    }
    setPurging(undefined);
    keepFocus();
    refresh();
  };
  const sizes = [
    { title: 'Responses', number: true, sort: (row) => row.entries, cell: (row) => count(row.entries) },
    { title: 'Size', number: true, sort: (row) => row.bytes, cell: (row) => bytes(row.bytes) },
    { title: 'Oldest', number: true, sort: (row) => row.oldestSeconds, cell: (row) => age(row.oldestSeconds) },
  ];
  return html`
    <div class="heading">
      <h1>Cache</h1>
      <div class="row">
        <button type="button" disabled=${reason !== undefined} aria-describedby="why" onClick=${() => setPurging({})}>
          Purge everything
        </button>
      </div>
    </div>
    <p id="why" class="muted">
      ${reason ?? 'A purge removes stored responses immediately; the next request for each of them goes to the upstream.'}
    </p>
    <${Trouble} error=${problem ?? error} shownError=${shownError} />
    <p id="kept">
      <strong>${plural(data.entries, 'stored response')}</strong>, ${bytes(data.bytes)} of ${bytes(data.maxBytes)}${' '}
      (${percent(data.bytes / data.maxBytes)}).
    </p>
    <h2>By operation</h2>
    <${Table}
      caption="Stored responses by operation"
      kind="cards"
      rows=${data.operations}
      keyOf=${(row) => row.operation}
      empty="The cache is empty."
      columns=${[
        { title: 'Operation', head: true, sort: (row) => row.operation, cell: (row) => row.operation },
        ...sizes,
        { title: 'Fresh', number: true, sort: (row) => row.fresh, cell: (row) => count(row.fresh) },
      ]}
    />
    <div class="heading">
      <h2>By tag</h2>
      <form class="row" role="search" aria-label="Tags" onSubmit=${(event) => event.preventDefault()}>
        <${SearchField}
          label="Tag contains"
          grows=${false}
          value=${query.tag ?? ''}
          placeholder="node:17"
          onText=${(text) => setQuery(['cache'], { tag: text })}
        />
      </form>
    </div>
    <p class="muted" role="status">
      ${
        data.matchingTags > data.tags.length
          ? `The ${count(data.tags.length)} largest of ${plural(data.matchingTags, 'tag')}.`
          : plural(data.matchingTags, 'tag')
      }
    </p>
    <${Table}
      caption="Stored responses by tag"
      kind="cards"
      rows=${data.tags}
      keyOf=${(row) => row.tag}
      empty="No tags."
      columns=${[
        { title: 'Tag', head: true, sort: (row) => row.tag, cell: (row) => html`<code>${row.tag}</code>` },
        ...sizes,
        {
          title: 'Purge',
          cell: (row) =>
            html`<button
              type="button"
              disabled=${reason !== undefined}
              aria-describedby=${reason && 'why'}
              onClick=${() => setPurging({ tag: row.tag })}
            >
              Purge<span class="unseen"> ${row.tag}</span>
            </button>`,
        },
      ]}
    />
    ${
      purging &&
      html`<${Confirm}
        title=${purging.tag === undefined ? 'Purge everything?' : `Purge ${purging.tag}?`}
        text=${purging.tag === undefined ? `This removes all ${plural(data.entries, 'stored response')}.` : 'This removes every stored response with this tag.'}
        action="Purge"
        onConfirm=${purge}
        onClose=${() => setPurging(undefined)}
      />`
    }
  `;
}
