import type { MetricEntry } from './metric-list.ts';

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };

/** The labels of one series as the text format writes them, with `extra` first; empty where there are none. */
export function labelText(names: readonly string[], values: readonly string[], extra = ''): string {
  const pairs = names.map(
    (name, index) => `${name}="${(values[index] ?? '').replace(/[\\"\n]/g, (c) => ESCAPES[c] ?? c)}"`,
  );
  const all = extra === '' ? pairs : [extra, ...pairs];
  return all.length === 0 ? '' : `{${all.join(',')}}`;
}

/** The two lines that stand before the samples of a metric. */
export function headText({ name, help, type }: MetricEntry): string {
  return `# HELP ${name} ${help.replace(/[\\\n]/g, (c) => ESCAPES[c] ?? c)}\n# TYPE ${name} ${type}\n`;
}
