import { LRUCache } from 'lru-cache';
import type { Contract } from '../contract/contract.ts';
import type { Arrival } from '../model/arrival.ts';
import { admit, type Admission } from './admit.ts';
import type { Plan } from './plan.ts';
import { type UndocumentedPolicy, undocumentedVerdict, type UndocumentedVerdict } from './undocumented/policy.ts';

/** What the text of a request target means. It depends on that text, the method and the contract alone. */
export type Target = OperationTarget | UndocumentedTarget;

/** A target of an operation. */
export interface OperationTarget {
  readonly plan: Plan;
  /** Decodes and checks the parameters. */
  readonly admit: () => Admission;
}

/** A target that is not in the contract, and what the policy says about it. */
interface UndocumentedTarget {
  readonly plan: undefined;
  readonly verdict: UndocumentedVerdict;
}

/** The part of a request that decides what its target means. */
export type TargetText = Pick<Arrival, 'method' | 'rawTarget' | 'target' | 'path' | 'query'>;

/** Resolves request targets, and remembers what the texts of some of them mean. */
export interface Targets {
  /** Returns the same for a text that was remembered as for one that was not; throws what reading an unsafe target throws. */
  resolve(arrival: TargetText): Target;
  /** Remembers what a target means, so that its text is not read again while its plan stands. */
  remember(arrival: TargetText, target: Target): void;
  /** Forgets everything, because a plan was replaced. */
  clear(): void;
  readonly size: number;
}

/** What targets are resolved with. */
export interface TargetsParts {
  readonly contract: Pick<Contract, 'match' | 'decodeParameters'>;
  readonly plans: ReadonlyMap<string, Plan>;
  readonly undocumented: UndocumentedPolicy;
  /** About how much memory may be used; 0 remembers nothing. */
  readonly maxBytes: number;
}

// About how many bytes each of these takes, beside the texts of an entry.
const ENTRY_BYTES = 500;
const VIOLATION_BYTES = 500;
const QUERY_PARAMETER_BYTES = 200;

/** Creates the resolver; the targets that were not requested for the longest time are forgotten first. */
export function createTargets({ contract, plans, undocumented, maxBytes }: TargetsParts): Targets {
  const memo = new LRUCache<string, Target>({
    maxSize: Math.max(1, Math.floor(maxBytes)),
    sizeCalculation: (target, rawTarget) => ENTRY_BYTES + rawTarget.length + (target.plan ? bytesOf(target) : 0),
  });

  const read = (arrival: TargetText): Target => {
    const match = contract.match(arrival.path);
    const operation = match?.byMethod.get(arrival.method === 'HEAD' ? 'GET' : arrival.method);
    const plan = operation && plans.get(operation.id);
    if (match === undefined || plan === undefined)
      return { plan: undefined, verdict: undocumentedVerdict(undocumented, arrival, match) };
    let admission: Admission | undefined;
    return { plan, admit: () => (admission ??= admit(plan, contract, match, arrival)) };
  };

  return {
    resolve: (arrival) => (arrival.method === 'GET' ? memo.get(arrival.rawTarget) : undefined) ?? read(arrival),
    remember(arrival, target) {
      if (arrival.method !== 'GET' || memo.peek(arrival.rawTarget) === target) return;
      // Not remembered: a plan that was replaced while it replied, and parameters that could not be decoded this time.
      if (target.plan !== undefined && plans.get(target.plan.operation.id) !== target.plan) return;
      if (target.plan !== undefined && target.admit().failure !== undefined) return;
      memo.set(arrival.rawTarget, target.plan === undefined ? target : compact(target, contract, arrival));
    },
    clear: () => memo.clear(),
    get size() {
      return memo.size;
    },
  };
}

/** About how much memory an entry takes for what its parameters were found to mean. */
function bytesOf({ plan, admit: admitted }: OperationTarget): number {
  const { target, asked, violations, values } = admitted();
  const decoded = plan.cache === undefined ? values().query.size * QUERY_PARAMETER_BYTES : 0;
  return target.length + asked.listTarget.length + violations.length * VIOLATION_BYTES + decoded;
}

/**
 * Returns the target in the form that is remembered. A stored response is returned without the decoded parameters, so
 * those of a cacheable page are decoded again when they are needed.
 */
function compact({ plan, admit: admitted }: OperationTarget, contract: TargetsParts['contract'], text: TargetText) {
  const admission = admitted();
  return {
    plan,
    admit: always(plan.cache === undefined ? admission : { ...admission, values: decoder(plan, contract, text) }),
  };
}

// Two functions, each with a scope of its own: a closure keeps everything alive that its scope shares with another one.
const always = (admission: Admission) => () => admission;

function decoder(plan: Plan, contract: TargetsParts['contract'], { path, query, target }: TargetText) {
  return () => {
    const match = contract.match(path);
    if (match === undefined) throw new Error(`${plan.operation.id} no longer has this path`);
    return admit(plan, contract, match, { path, query, target }).values();
  };
}
