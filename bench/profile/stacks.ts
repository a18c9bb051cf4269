import type { CpuProfile, ProfileNode } from './cpu-profile.ts';
import { groupOf, placeOf } from './groups.ts';

/** A function in a call tree. Callers are above the functions that they call. */
export interface Frame {
  readonly name: string;
  /** The file and line as shown in reports. Empty for native code in V8 and Node. */
  readonly place: string;
  readonly group: string;
  /** The time spent in the function itself, in microseconds. */
  self: number;
  /** The time spent in the function and in everything that it called, in microseconds. */
  total: number;
  readonly children: Map<string, Frame>;
}

/** A part of a profile. Its start and end are times on the profile's clock. */
export interface Window {
  readonly fromUs: number;
  readonly toUs: number;
}

const WAITING = '(idle)';

/** Returns the call tree for part of a profile. Idle time is not included. Throws if that part contains no samples. */
export function toStacks(profile: CpuProfile, { fromUs, toUs }: Window): Frame {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map<number, number>();
  for (const { id, children = [] } of profile.nodes) for (const child of children) parents.set(child, id);
  const selfUs = new Map<number, number>();
  let at = profile.startTime;
  for (const [index, id] of profile.samples.entries()) {
    const delta = profile.timeDeltas[index] ?? 0;
    at += delta;
    // A sample represents the time until the next sample.
    const lasts = profile.timeDeltas[index + 1] ?? 0;
    if (at >= fromUs && at < toUs && lasts > 0) selfUs.set(id, (selfUs.get(id) ?? 0) + lasts);
  }
  const root = frame('all', '', '');
  for (const [id, us] of selfUs) {
    const path = pathOf(id, nodes, parents);
    if (path.at(-1)?.callFrame.functionName === WAITING) continue;
    add(root, path, us);
  }
  if (root.total === 0) throw new Error('the profile has no samples from the rounds');
  return root;
}

function pathOf(
  id: number,
  nodes: ReadonlyMap<number, ProfileNode>,
  parents: ReadonlyMap<number, number>,
): ProfileNode[] {
  const path: ProfileNode[] = [];
  for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
    const node = nodes.get(at);
    if (node !== undefined && node.callFrame.functionName !== '(root)') path.push(node);
  }
  return path.reverse();
}

function add(root: Frame, path: readonly ProfileNode[], us: number): void {
  root.total += us;
  let here = root;
  for (const { callFrame } of path) {
    const key = `${callFrame.functionName} ${callFrame.url}:${callFrame.lineNumber}`;
    let next = here.children.get(key);
    if (next === undefined) {
      next = frame(nameOf(callFrame), placeOf(callFrame), groupOf(callFrame));
      here.children.set(key, next);
    }
    next.total += us;
    here = next;
  }
  here.self += us;
}

/** Returns the name of a function, or its location if it is anonymous. */
function nameOf(callFrame: ProfileNode['callFrame']): string {
  return callFrame.functionName || `(${placeOf(callFrame).replace(/^.*\//, '')})`;
}

function frame(name: string, place: string, group: string): Frame {
  return { name, place, group, self: 0, total: 0, children: new Map() };
}

/** Yields every frame of a tree. A caller comes before the functions that it calls. */
export function* framesOf(frameOrRoot: Frame): Generator<Frame> {
  yield frameOrRoot;
  for (const child of frameOrRoot.children.values()) yield* framesOf(child);
}
