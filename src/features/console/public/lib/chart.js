import { NONE, time } from './format.js';
import { html, useEffect, useId, useRef, useState } from './html.js';
import uPlot from '../vendor/uplot.js';

const HEIGHT = 170;
/** The possible intervals between labels on the time axis, in seconds. */
const MINUTES = [60, 120, 300, 600, 900, 1800];

/**
 * A chart of values over time. While the pointer is over any chart, all charts show their values for the time under the
 * pointer; otherwise, they show the latest values. A table below the chart shows all numbers.
 *
 * The entries of `series` have the form `{ label, color, dash?, value(point) }`, where `color` is the name of a custom
 * property in the style sheet. `format` formats the axis labels, and `textFor` formats the values. `logarithmic` is for
 * values that differ by orders of magnitude.
 */
export function Chart({ title, points, from, to, series, summary, format, textFor = format, logarithmic = false }) {
  const place = useRef(/** @type {any} */ (null));
  const chart = useRef(/** @type {any} */ (undefined));
  const id = useId();
  const scheme = useScheme();
  const [cursor, setCursor] = useState(/** @type {number | null | undefined} */ (undefined));
  // The line that shows the values has a constant height so that the chart does not move away from the pointer.
  const shown = points[cursor ?? points.length - 1] ?? points.at(-1);
  const data = [
    points.map(({ at }) => at / 1000),
    ...series.map(({ value }) => points.map((point) => value(point) ?? null)),
  ];

  useEffect(() => {
    const options = optionsOf(place.current, series, format, logarithmic, setCursor);
    const created = new uPlot(options, data, place.current);
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
    // The colors are part of the drawing, so a change to the color scheme requires a new chart.
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
    <p class="values">
      ${
        shown &&
        html`<span>${time(shown.at)}</span> ${series.map(
            ({ label, value }) => html`<span key=${label}>${label} <b>${textOf(value(shown), textFor)}</b></span>`,
          )}`
      }
    </p>
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
                  ${series.map(
                    ({ label, value }) => html`<td class="number" key=${label}>${textOf(value(point), textFor)}</td>`,
                  )}
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </details>
  </figure>`;
}

const textOf = (value, format) => (value === undefined ? NONE : format(value));

/** @returns {any} */
function optionsOf(place, series, format, logarithmic, onCursor) {
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
    // The cursors of all charts on a page point to the same time.
    cursor: { y: false, drag: { x: false, y: false, setScale: false }, points: { size: 8 }, sync: { key: 'time' } },
    hooks: { setCursor: [({ cursor: { idx } }) => onCursor(idx)] },
    padding: [8, 24, 0, 0],
    scales: {
      x: { auto: false },
      y: logarithmic
        ? { distr: 3, range: (_chart, min, max) => powersOfTen(min, max) }
        : { range: (_chart, _min, max) => [0, max > 0 ? max * 1.1 : 1] },
    },
    axes: [
      {
        ...axis,
        values: (_chart, ticks) => ticks.map((at) => time(at * 1000).slice(0, 5)),
        space: 60,
        size: 28,
        incrs: MINUTES,
      },
      {
        ...axis,
        size: 64,
        values: (_chart, ticks) => ticks.map((value) => format(value)),
        space: 34,
        ...(logarithmic && {
          splits: (_chart, _axis, min, max) => ticksBetween(min, max),
          filter: (_chart, ticks) => ticks,
        }),
      },
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
          fill: dash || series.length > 1 || logarithmic ? undefined : color(`${name}-soft`),
          spanGaps: false,
        };
      }),
    ],
  };
}

/** Returns the smallest range between two powers of ten that contains both values. The powers are never equal. */
function powersOfTen(min, max) {
  if (!(min > 0) || !(max > 0)) return [0.001, 1];
  const from = Math.floor(Math.log10(min) + 1e-9);
  return [10 ** from, 10 ** Math.max(from + 1, Math.ceil(Math.log10(max) - 1e-9))];
}

function ticksBetween(min, max) {
  const from = Math.round(Math.log10(min));
  return Array.from({ length: Math.round(Math.log10(max)) - from + 1 }, (_, step) => Number(`1e${from + step}`));
}

/** Returns the positions of a series' isolated points, which have no value on either side. */
function alone({ data }, index) {
  const hasValue = (at) => typeof data[index][at] === 'number';
  return [...data[index].keys()].filter((at) => hasValue(at) && !hasValue(at - 1) && !hasValue(at + 1));
}

/** A small chart with one bar per hour. The current hour is last. */
export function Sparkline({ hours, label }) {
  const highest = Math.max(1, ...hours);
  return html`<svg class="sparkline" viewBox=${`0 0 ${hours.length * 4} 20`} role="img" aria-label=${label}>
    ${hours.map((value, hour) => {
      // An hour with a single occurrence must be visible next to an hour with thousands.
      const height = value === 0 ? 1 : Math.max(3, (value / highest) * 20);
      return html`<rect
        key=${hour}
        class=${value === 0 ? 'none' : undefined}
        x=${hour * 4}
        y=${20 - height}
        width="3"
        height=${height}
      />`;
    })}
  </svg>`;
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
