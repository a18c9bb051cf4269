import { post, withQuery } from '../lib/api.js';
import { Confirm } from '../lib/confirm.js';
import { age, bytes, count, percent, plural } from '../lib/format.js';
import { html, useState } from '../lib/html.js';
import { useKeptFocus } from '../lib/keep-focus.js';
import { usePoll } from '../lib/poll.js';
import { setQuery } from '../lib/route.js';
import { Table } from '../lib/table.js';
import { Reading, Trouble } from '../lib/trouble.js';

/** What is kept, by operation and by tag; and dropping it. */
export function CachePage({ query, status, told, announce }) {
  const { data: fresh, stale, error, refresh } = usePoll(withQuery('cache', query));
  const data = fresh ?? stale;
  const [asking, setAsking] = useState(/** @type {any} */ (undefined));
  const [problem, setProblem] = useState(/** @type {import('../lib/api.js').ApiError | undefined} */ (undefined));
  const keepFocus = useKeptFocus(data);
  if (data === undefined)
    return html`<h1>Cache</h1>
      <${Reading} error=${error} told=${told} />`;
  const reason = status.readOnlyReason;
  const purge = async () => {
    try {
      const { purged } = await post('cache/purge', asking.tag === undefined ? { all: true } : { tag: asking.tag });
      announce(`${plural(purged, 'page')} dropped.`);
      setProblem(undefined);
    } catch (failure) {
      setProblem(/** @type {import('../lib/api.js').ApiError} */ (failure));
    }
    setAsking(undefined);
    keepFocus();
    refresh();
  };
  const kept = [
    { title: 'Pages', number: true, sort: (row) => row.entries, cell: (row) => count(row.entries) },
    { title: 'Size', number: true, sort: (row) => row.bytes, cell: (row) => bytes(row.bytes) },
    { title: 'Oldest', number: true, sort: (row) => row.oldestSeconds, cell: (row) => age(row.oldestSeconds) },
  ];
  return html`
    <div class="heading">
      <h1>Cache</h1>
      <div class="row">
        <button type="button" disabled=${reason !== undefined} aria-describedby="why" onClick=${() => setAsking({})}>
          Purge everything
        </button>
      </div>
    </div>
    <p id="why" class="muted">${reason ?? 'A purge drops pages at once; the next request for each is sent on.'}</p>
    <${Trouble} error=${problem ?? error} told=${told} />
    <p id="kept">
      <strong>${plural(data.entries, 'page')}</strong>, ${bytes(data.bytes)} of ${bytes(data.maxBytes)}${' '}
      (${percent(data.bytes / data.maxBytes)}).
    </p>
    <h2>By operation</h2>
    <${Table}
      caption="Kept pages by operation"
      rows=${data.operations}
      keyOf=${(row) => row.operation}
      empty="Nothing is kept."
      columns=${[
        { title: 'Operation', head: true, sort: (row) => row.operation, cell: (row) => row.operation },
        ...kept,
        { title: 'Fresh', number: true, sort: (row) => row.fresh, cell: (row) => count(row.fresh) },
      ]}
    />
    <div class="heading">
      <h2>By tag</h2>
      <form class="row" role="search" aria-label="Tags" onSubmit=${(event) => event.preventDefault()}>
        <label>
          <span>Tag holds</span>
          <input
            type="search"
            value=${query.tag ?? ''}
            placeholder="node:17"
            onInput=${(event) => setQuery(['cache'], { tag: event.currentTarget.value })}
          />
        </label>
      </form>
    </div>
    <p class="muted" role="status">
      ${
        data.matchingTags > data.tags.length
          ? `The ${count(data.tags.length)} widest of ${plural(data.matchingTags, 'tag')}.`
          : plural(data.matchingTags, 'tag')
      }
    </p>
    <${Table}
      caption="Kept pages by tag"
      rows=${data.tags}
      keyOf=${(row) => row.tag}
      empty="No tag to show."
      columns=${[
        { title: 'Tag', head: true, sort: (row) => row.tag, cell: (row) => html`<code>${row.tag}</code>` },
        ...kept,
        {
          title: 'Purge',
          cell: (row) =>
            html`<button
              type="button"
              disabled=${reason !== undefined}
              aria-describedby=${reason && 'why'}
              onClick=${() => setAsking({ tag: row.tag })}
            >
              Purge<span class="unseen"> ${row.tag}</span>
            </button>`,
        },
      ]}
    />
    ${
      asking &&
      html`<${Confirm}
        title=${asking.tag === undefined ? 'Purge everything?' : `Purge ${asking.tag}?`}
        text=${asking.tag === undefined ? `All ${plural(data.entries, 'page')} are dropped.` : 'Every page that carries this tag is dropped.'}
        action="Purge"
        onConfirm=${purge}
        onClose=${() => setAsking(undefined)}
      />`
    }
  `;
}
