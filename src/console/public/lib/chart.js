import { time } from './format.js';
import { html, useEffect, useId, useRef, useState } from './html.js';
import uPlot from '../vendor/uplot.js';

const HEIGHT = 170;
/** The possible intervals between labels on the time axis, in seconds. */
const MINUTES = [60, 120, 300, 600, 900, 1800];

/**
 * A chart of values over time. A table below the chart shows the same numbers. The entries of `series` have the form
 * `{ label, color, dash?, value(point), text(value) }`. `color` is the name of a custom property in the style sheet.
 */
export function Chart({ title, points, from, to, series, summary, format }) {
  const place = useRef(/** @type {any} */ (null));
  const chart = useRef(/** @type {any} */ (undefined));
  const id = useId();
  const scheme = useScheme();
  const data = [
    points.map(({ at }) => at / 1000),
    ...series.map(({ value }) => points.map((point) => value(point) ?? null)),
  ];

  useEffect(() => {
    const created = new uPlot(optionsOf(place.current, series, format), data, place.current);
    chart.current = created;
    const observer = new ResizeObserver(([entry]) => {
      const width = Math.floor(entry?.contentRect.width ?? 0);
      if (width > 0 && width !== created.width) created.setSize({ width, height: HEIGHT });
    });
    observer.observe(place.current);
    return () => {
      observer.disconnect();
      created.destroy();
    };
    // The colors are part of the drawing, so a change of the color scheme requires a new chart.
  }, [scheme]);
  useEffect(() => {
    const { current } = chart;
    current.batch(() => {
      current.setData(data, false);
      current.setScale('x', { min: from / 1000, max: to / 1000 });
    });
  }, [points, scheme]);

  return html`<figure class="card chart" aria-labelledby=${id}>
    <figcaption id=${id}>
      <strong>${title}</strong>
      ${series.map(
        ({ label, color, dash }) =>
          html`<span class="key" key=${label}
            ><i class=${`line ${color}${dash ? ' dash' : ''}`} aria-hidden="true"></i>${label}</span
          >`,
      )}
    </figcaption>
    <div ref=${place} class="plot" role="img" aria-label=${`${title}: ${summary}`}></div>
    <details>
      <summary>${title} as a table</summary>
      <div class="scroll short" role="region" aria-label=${`${title} as a table`} tabindex="0">
        <table>
          <thead>
            <tr>
              <th scope="col">Time</th>
              ${series.map(({ label }) => html`<th scope="col" class="number" key=${label}>${label}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${points.toReversed().map(
              (point) =>
                html`<tr key=${point.at}>
                  <th scope="row">${time(point.at)}</th>
                  ${series.map(({ label, value }) => {
                    const found = value(point);
                    return html`<td class="number" key=${label}>${found === undefined ? '–' : format(found)}</td>`;
                  })}
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </details>
  </figure>`;
}

/** @returns {any} */
function optionsOf(place, series, format) {
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(`--${name}`).trim();
  const axis = {
    stroke: color('muted'),
    font: '12px system-ui, sans-serif',
    grid: { stroke: color('line'), width: 1 },
    ticks: { show: false },
  };
  return {
    width: Math.max(200, Math.floor(place.clientWidth)),
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 24, 0, 0],
    scales: { x: { auto: false }, y: { range: (_chart, _min, max) => [0, max > 0 ? max * 1.1 : 1] } },
    axes: [
      {
        ...axis,
        values: (_chart, ticks) => ticks.map((at) => time(at * 1000).slice(0, 5)),
        space: 60,
        size: 28,
        incrs: MINUTES,
      },
      { ...axis, size: 64, values: (_chart, ticks) => ticks.map((value) => format(value)), space: 34 },
    ],
    series: [
      {},
      ...series.map(({ label, color: name, dash }) => {
        return {
          label,
          stroke: color(name),
          width: 2,
          dash: dash ? [6, 4] : undefined,
          // A line needs at least two points, so a single point between two gaps is shown as a marker.
          points: { show: false, size: 6, fill: color(name), filter: alone },
          fill: dash || series.length > 1 ? undefined : color(`${name}-soft`),
          spanGaps: false,
        };
      }),
    ],
  };
}

/** Returns the points of a series that have no neighboring points. */
function alone({ data }, index) {
  const hasValue = (at) => typeof data[index][at] === 'number';
  return [...data[index].keys()].filter((at) => hasValue(at) && !hasValue(at - 1) && !hasValue(at + 1));
}

function useScheme() {
  const query = matchMedia('(prefers-color-scheme: dark)');
  const [dark, setDark] = useState(query.matches);
  useEffect(() => {
    const onChange = (event) => setDark(event.matches);
    query.addEventListener('change', onChange);
    return () => query.removeEventListener('change', onChange);
  }, []);
  return dark;
}
