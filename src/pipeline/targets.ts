import { LRUCache } from 'lru-cache';
import type { Contract } from '../contract/contract.ts';
import type { Arrival } from '../model/arrival.ts';
import { admit, type Admission } from './admit.ts';
import type { Plan } from './plan.ts';
import { type UndocumentedPolicy, undocumentedVerdict, type UndocumentedVerdict } from './undocumented/policy.ts';

/** The meaning of a request target. It depends only on its text, the method and the contract. */
export type Target = OperationTarget | UndocumentedTarget;

/** A target of an operation. */
export interface OperationTarget {
  readonly plan: Plan;
  /** Decodes and checks the parameters. */
  readonly admit: () => Admission;
}

/** A target that is not in the contract, with the policy's verdict. */
interface UndocumentedTarget {
  readonly plan: undefined;
  readonly verdict: UndocumentedVerdict;
}

/** The parts of a request that determine the meaning of its target. */
export type TargetText = Pick<Arrival, 'method' | 'rawTarget' | 'target' | 'path' | 'query'>;

/** Resolves request targets and remembers some of the results. */
export interface Targets {
  /** Returns the same target whether or not it was remembered. Throws if the target is unsafe. */
  resolve(arrival: TargetText): Target;
  /** Remembers a target, so that its text is not parsed again until its plan is replaced. */
  remember(arrival: TargetText, target: Target): void;
  /** Clears all remembered targets. Call this after a plan is replaced. */
  clear(): void;
  readonly size: number;
}

/** Parts of the resolver. */
export interface TargetsParts {
  readonly contract: Pick<Contract, 'match' | 'decodeParameters'>;
  readonly plans: ReadonlyMap<string, Plan>;
  readonly undocumented: UndocumentedPolicy;
  /** The approximate memory limit in bytes. With 0, no targets are remembered. */
  readonly maxBytes: number;
}

// The approximate size of each of these in bytes, apart from the texts of an entry.
const ENTRY_BYTES = 500;
const VIOLATION_BYTES = 500;
const QUERY_PARAMETER_BYTES = 200;

/** Creates the resolver. The least recently used targets are evicted first. */
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
      // Skip targets whose plan was replaced during the reply and targets whose parameters could not be decoded.
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

/** Returns the approximate memory that the decoded parameters of an entry use, in bytes. */
function bytesOf({ plan, admit: admitted }: OperationTarget): number {
  const { target, asked, violations, values } = admitted();
  const decoded = plan.cache === undefined ? values().query.size * QUERY_PARAMETER_BYTES : 0;
  return target.length + asked.listTarget.length + violations.length * VIOLATION_BYTES + decoded;
}

/**
 * Returns the target in the form in which it is remembered. A stored response does not need the decoded parameters, so
 * those of a cacheable page are discarded and decoded again on demand.
 */
function compact({ plan, admit: admitted }: OperationTarget, contract: TargetsParts['contract'], text: TargetText) {
  const admission = admitted();
  return {
    plan,
    admit: always(plan.cache === undefined ? admission : { ...admission, values: decoder(plan, contract, text) }),
  };
}

// These are two functions with separate scopes, because closures in the same scope would keep each other's variables
// alive.
const always = (admission: Admission) => () => admission;

function decoder(plan: Plan, contract: TargetsParts['contract'], { path, query, target }: TargetText) {
  return () => {
    const match = contract.match(path);
    if (match === undefined) throw new Error(`${plan.operation.id} no longer has this path`);
    return admit(plan, contract, match, { path, query, target }).values();
  };
}
