import type { Frame } from './stacks.ts';

const WIDTH = 1200;
const LINE = 17;
const TOP = 64;
/** The minimum width of a frame, in pixels. Narrower frames are omitted. */
const LEAST = 0.6;
/** The approximate width of a character, in pixels. */
const LETTER = 6.1;

/** A color for each kind of work. Dark text is readable on these medium tones, whatever the page's background. */
const COLOURS: readonly (readonly [string, string, string])[] = [
  ['Portico', '#4fb48e', 'Portico'],
  ['package', '#c9a2e0', 'packages'],
  ['Node', '#86b3e6', 'Node'],
  ['system calls', '#e0a05a', 'system calls'],
  ['native', '#e0a05a', ''],
  ['V8: garbage', '#e27d7d', 'garbage collection'],
  ['V8', '#d8cc74', 'built-ins of V8 and Node'],
];
const OTHER = '#b5bac0';

/** Returns a flame graph in which callers are above callees. Tooltips show names, files and shares. */
export function flameGraph(root: Frame, title: string): string {
  const rows: string[] = [];
  const deepest = draw(root, 0, 0, WIDTH / root.total, root.total, rows);
  const height = TOP + (deepest + 1) * LINE + 8;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(`Flame graph: ${title}`)}">
<style>
text { font: 11px ui-monospace, Menlo, Consolas, monospace; fill: #1b1f24; }
.head { font: 600 14px system-ui, sans-serif; }
.head, .key { fill: #24292f; }
.key { font-family: system-ui, sans-serif; }
@media (prefers-color-scheme: dark) { .head, .key { fill: #e6edf3; } }
</style>
<text class="head" x="8" y="20">${escaped(title)}</text>
${legend()}
${rows.join('\n')}
</svg>
`;
}

function draw(frame: Frame, x: number, depth: number, scale: number, all: number, rows: string[]): number {
  const width = frame.total * scale;
  if (width < LEAST) return depth;
  const y = TOP + depth * LINE;
  const share = ((frame.total / all) * 100).toFixed(1);
  const about = [frame.name, frame.place].filter((text) => text !== '').join(', ');
  const letters = Math.floor((width - 6) / LETTER);
  const label = letters < 3 ? '' : frame.name.length > letters ? `${frame.name.slice(0, letters - 1)}…` : frame.name;
  rows.push(
    `<g><title>${escaped(`${about}: ${share}%`)}</title>` +
      `<rect x="${x.toFixed(1)}" y="${y}" width="${Math.max(0.3, width - 0.4).toFixed(1)}" height="${LINE - 1}" rx="1" fill="${colourOf(frame.group)}"/>` +
      `${label === '' ? '' : `<text x="${(x + 3).toFixed(1)}" y="${y + 12}">${escaped(label)}</text>`}</g>`,
  );
  let deepest = depth;
  let at = x;
  for (const child of [...frame.children.values()].sort((a, b) => b.total - a.total)) {
    deepest = Math.max(deepest, draw(child, at, depth + 1, scale, all, rows));
    at += child.total * scale;
  }
  return deepest;
}

function legend(): string {
  let x = 8;
  return COLOURS.filter(([, , text]) => text !== '')
    .map(([, colour, text]) => {
      const at = x;
      x += 26 + text.length * 6.4;
      return `<rect x="${at}" y="36" width="12" height="12" rx="2" fill="${colour}"/><text class="key" x="${at + 16}" y="46">${text}</text>`;
    })
    .join('\n');
}

function colourOf(group: string): string {
  return COLOURS.find(([start]) => group.startsWith(start))?.[1] ?? OTHER;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
