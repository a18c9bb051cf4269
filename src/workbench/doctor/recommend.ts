import { plainText, wrapText } from '../../lib/plain-text.ts';

/** A recommended value for a configuration key. */
export interface Recommendation {
  /** The dotted key, such as `upstream.idleTimeoutMs`. */
  readonly key: string;
  readonly value: unknown;
  readonly reason: string;
}

const WIDTH = 100;

/** A branch of the configuration tree whose leaves are recommendations. */
type Branch = Map<string, Branch | Recommendation>;

/**
 * Returns the recommended configuration as YAML, with the reason above each key. It starts in `observe` mode,
 * because only recorded traffic shows what can be enforced.
 */
export function recommendedConfiguration({
  url,
  recommendations,
}: {
  readonly url: string;
  readonly recommendations: readonly Recommendation[];
}): string {
  const all: readonly Recommendation[] = [
    {
      key: 'mode',
      value: 'observe',
      reason: 'Start without refusing anything, and look at the recorded violations first.',
    },
    { key: 'upstream.url', value: url, reason: 'The address at which the API was found.' },
    ...recommendations,
  ];
  const root: Branch = new Map();
  // If several probes recommend a value for the same key, the first recommendation is used.
  for (const one of all.toReversed()) place(root, one.key.split('.'), one);
  const ordered = [...new Set(all.map(({ key }) => key.split('.')[0] ?? ''))];
  return [
    '# Recommended by portico doctor. Check it with portico check, next to a roles.yaml (portico init).',
    ...ordered.flatMap((name) => branchLines(name, root.get(name), '')),
    '',
  ].join('\n');
}

function place(branch: Branch, [name = '', ...rest]: readonly string[], leaf: Recommendation): void {
  if (rest.length === 0) {
    branch.delete(name);
    branch.set(name, leaf);
    return;
  }
  const below = branch.get(name);
  const next: Branch = below instanceof Map ? below : new Map();
  branch.set(name, next);
  place(next, rest, leaf);
}

function branchLines(name: string, node: Branch | Recommendation | undefined, indent: string): readonly string[] {
  if (node === undefined) return [];
  if (node instanceof Map)
    return [
      `${indent}${name}:`,
      ...[...node].toReversed().flatMap(([key, below]) => branchLines(key, below, `${indent}  `)),
    ];
  const reason = wrapText(plainText(node.reason), WIDTH - indent.length).map((line) => `${indent}# ${line}`);
  // JSON is valid YAML, so a string can be quoted as in JSON.
  return [...reason, `${indent}${name}: ${JSON.stringify(node.value)}`];
}
