import type { Operation } from '../model/operation.ts';

/** One segment of the templates seen so far: fixed texts by name, placeholders by what follows them. */
interface Branch {
  readonly fixed: Map<string, Branch>;
  readonly open: { readonly suffix: string; readonly branch: Branch }[];
  entry: PathEntry | undefined;
  names: readonly string[];
}

/** A segment of a template that holds a placeholder: its name and what follows it. */
export const PLACEHOLDER = /^\{([^}]+)\}(.*)$/;

/** Compiles templates to a tree of segments: a match costs one look-up per segment, however many templates there are. */
export function compilePaths(entries: readonly PathEntry[]): (path: string) => PathMatch | undefined {
  const root = createBranch();
  for (const entry of entries) plant(root, entry);
  return (path) => {
    if (!path.startsWith('/')) return undefined;
    const segments = path.slice(1).split('/', MAX_SEGMENTS);
    const values: string[] = [];
    const branch = climb(root, segments, 0, values);
    if (!branch?.entry) return undefined;
    const rawParameters = Object.fromEntries(branch.names.map((name, index) => [name, values[index] ?? '']));
    return { ...branch.entry, rawParameters };
  };
}

/** One more than any template may have, so that a longer path cannot fit and costs no more. */
export const MAX_SEGMENTS = 16;

function createBranch(): Branch {
  return { fixed: new Map(), open: [], entry: undefined, names: [] };
}

function plant(root: Branch, entry: PathEntry): void {
  let branch = root;
  const names: string[] = [];
  for (const segment of entry.template.slice(1).split('/')) {
    const [, name, suffix = ''] = PLACEHOLDER.exec(segment) ?? [];
    if (name === undefined) {
      const next = branch.fixed.get(segment) ?? createBranch();
      branch.fixed.set(segment, next);
      branch = next;
    } else {
      names.push(name);
      const known = branch.open.find((way) => way.suffix === suffix);
      const next = known?.branch ?? createBranch();
      if (!known) branch.open.push({ suffix, branch: next });
      branch = next;
    }
  }
  branch.entry = entry;
  branch.names = names;
}

function climb(branch: Branch, segments: readonly string[], depth: number, values: string[]): Branch | undefined {
  const segment = segments[depth];
  if (segment === undefined) return branch.entry ? branch : undefined;
  const fixed = branch.fixed.get(segment);
  const found = fixed && climb(fixed, segments, depth + 1, values);
  if (found) return found;
  for (const { suffix, branch: next } of branch.open) {
    if (segment.length <= suffix.length || !segment.endsWith(suffix)) continue;
    values.push(segment.slice(0, segment.length - suffix.length));
    const reached = climb(next, segments, depth + 1, values);
    if (reached) return reached;
    values.pop();
  }
  return undefined;
}

/** The path template that a raw path fits. */
export interface PathMatch {
  /** For example `/services/v2/comment/{commentId}.json`. */
  readonly template: string;
  readonly byMethod: ReadonlyMap<string, Operation>;
  /** Methods of inferred operations that are switched off: requests with them are to undocumented paths (rules, 10). */
  readonly undocumentedMethods: ReadonlySet<string>;
  /** Raw segments by the name of the path parameter, still percent-encoded. */
  readonly rawParameters: Readonly<Record<string, string>>;
}

/** A template with the operations under it. */
export type PathEntry = Omit<PathMatch, 'rawParameters'>;
