import type { Operation } from '../model/operation.ts';

/**
 * A node in the tree of path segments. Fixed segments are looked up by their text, and placeholders by the text that
 * follows them in the segment.
 */
interface Branch {
  readonly fixed: Map<string, Branch>;
  readonly open: { readonly suffix: string; readonly branch: Branch }[];
  /** The match for a path that ends at this node, without its parameter values. */
  entry: PathMatch | undefined;
  names: readonly string[];
}

/** Matches a template segment that contains a placeholder. It captures the placeholder's name and suffix. */
export const PLACEHOLDER = /^\{([^}]+)\}(.*)$/;

/**
 * Compiles path templates into a tree of segments. Matching a path takes at most a few lookups per segment, regardless
 * of the number of templates.
 */
export function compilePaths(entries: readonly PathEntry[]): (path: string) => PathMatch | undefined {
  const root = createBranch();
  for (const entry of entries) addTemplate(root, entry);
  return (path) => {
    if (!path.startsWith('/')) return undefined;
    const segments = path.slice(1).split('/', MAX_SEGMENTS);
    const values: string[] = [];
    const branch = findBranch(root, segments, 0, values);
    if (!branch?.entry) return undefined;
    if (branch.names.length === 0) return branch.entry;
    const rawParameters = Object.fromEntries(branch.names.map((name, index) => [name, values[index] ?? '']));
    return { ...branch.entry, rawParameters };
  };
}

/**
 * The maximum number of segments read from a path. No template can have this many segments, so a path that has this
 * many matches no template.
 */
export const MAX_SEGMENTS = 16;

function createBranch(): Branch {
  return { fixed: new Map(), open: [], entry: undefined, names: [] };
}

function addTemplate(root: Branch, entry: PathEntry): void {
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
      const known = branch.open.find((one) => one.suffix === suffix);
      const next = known?.branch ?? createBranch();
      if (!known) branch.open.push({ suffix, branch: next });
      branch = next;
    }
  }
  branch.entry = { ...entry, rawParameters: {} };
  branch.names = names;
}

function findBranch(branch: Branch, segments: readonly string[], depth: number, values: string[]): Branch | undefined {
  const segment = segments[depth];
  if (segment === undefined) return branch.entry ? branch : undefined;
  const fixed = branch.fixed.get(segment);
  const found = fixed && findBranch(fixed, segments, depth + 1, values);
  if (found) return found;
  for (const { suffix, branch: next } of branch.open) {
    if (segment.length <= suffix.length || !segment.endsWith(suffix)) continue;
    values.push(segment.slice(0, segment.length - suffix.length));
    const reached = findBranch(next, segments, depth + 1, values);
    if (reached) return reached;
    values.pop();
  }
  return undefined;
}

/** The path template that matches a raw path, and the values of its placeholders. */
export interface PathMatch {
  /** The template, such as `/services/v2/comment/{commentId}.json`. */
  readonly template: string;
  readonly byMethod: ReadonlyMap<string, Operation>;
  /**
   * The methods of disabled inferred operations. Requests that use them count as undocumented (docs/rules.md §10).
   */
  readonly undocumentedMethods: ReadonlySet<string>;
  /** The raw, percent-encoded segments, keyed by path parameter name. */
  readonly rawParameters: Readonly<Record<string, string>>;
}

/** A path template and its operations. */
export type PathEntry = Omit<PathMatch, 'rawParameters'>;
