/** A metric in a query: its name and its label matchers. */
export interface MetricUse {
  readonly name: string;
  readonly matchers: readonly { readonly label: string; readonly value: string; readonly isPattern: boolean }[];
}

/** The names that a query uses. */
export interface PromqlUse {
  readonly metrics: readonly MetricUse[];
  /** The labels named by `by`, `without`, `on`, `ignoring` and `group_left`. */
  readonly labels: readonly string[];
}

const GROUPING = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;
const RANGE = /\[[^\]]*\]|\boffset\s+\S+/g;
const NAME = /(?<![\w:$.])([a-zA-Z_:][\w:]*)\s*(\(|\{(?:[^}"]|"[^"]*")*\})?/g;
const MATCHER = /(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g;
const WORDS = new Set(['and', 'or', 'unless', 'bool']);

/** Extracts the names from a PromQL query. Does not check the syntax, because promtool does. */
export function promqlUse(query: string): PromqlUse {
  const labels: string[] = [];
  const rest = query
    .replace(GROUPING, (_, names: string) => {
      labels.push(...names.split(',').map((name) => name.trim()));
      return ' ';
    })
    .replace(RANGE, ' ');
  const metrics = [...rest.matchAll(NAME)]
    .filter(([, name = '', next]) => next !== '(' && !WORDS.has(name))
    .map(([, name = '', matchers = '']) => ({
      name,
      matchers: [...matchers.matchAll(MATCHER)].map(([, label = '', operator = '', value = '']) => ({
        label,
        value,
        isPattern: operator.endsWith('~'),
      })),
    }));
  return { metrics, labels: labels.filter((label) => label !== '') };
}
