import { DAY_MS, HOUR_MS } from '../../lib/clock.ts';
import { closestName } from '../../lib/closest-name.ts';
import { isPlainObject, type PlainObject } from '../../lib/plain-object.ts';
import { CHECK_LEVELS, CHECK_NAMES, CHECKS } from '../../engine/model/checks.ts';
import { containsCredential } from '../../engine/privacy/secret-text.ts';
import { lineOf, MAX_OPERATOR_NAME, operatorName } from '../../engine/model/operator-name.ts';
import { type OperationFacts, whyWithoutEffect } from './in-force.ts';
import { OVERRIDABLE_CHECKS, OVERRIDE_KINDS, type OverrideChange, type OverrideEntry } from './level-entry.ts';

/** An error in one member of an operator's request. */
export interface OverrideFault {
  readonly field: string;
  readonly message: string;
}

/** The limits that the contract and the configuration set for overrides. */
export interface OverrideRules {
  /** The ids of the contract's operations. */
  readonly operations: readonly string[];
  /** Returns the facts about an operation. Undefined if they are not known, so that every change may have an effect. */
  readonly factsOf: (operation: string) => OperationFacts | undefined;
  /** The maximum number of hours until an override ends. */
  readonly maxHours: number;
}

/** An override as requested by an operator. */
type RequestedOverride = OverrideChange & Pick<OverrideEntry, 'operation' | 'reason' | 'by' | 'until'>;

/** The limits that apply to every override. */
export const OVERRIDE_LIMITS = { reason: 500, by: MAX_OPERATOR_NAME, maxStaleSeconds: (7 * DAY_MS) / 1000 } as const;

/** The default limit on how stale a stored response may be, in seconds. */
const DEFAULT_STALE_SECONDS = DAY_MS / 1000;

const MEMBERS = ['operation', 'kind', 'check', 'level', 'maxStaleSeconds', 'reason', 'by', 'until', 'forMinutes'];

/** Reads an operator's request for an override. If the request is invalid, returns all of its errors. */
export function readOverride(
  body: unknown,
  { operations, factsOf, maxHours }: OverrideRules,
  now: number,
): RequestedOverride | readonly OverrideFault[] {
  if (!isPlainObject(body)) return [{ field: '', message: 'Send a JSON object.' }];
  const faults: OverrideFault[] = [];
  const fault = (field: string, message: string) => {
    faults.push({ field, message });
    return undefined;
  };
  for (const name of Object.keys(body))
    if (!MEMBERS.includes(name)) fault(shownName(name), `${shownName(name)} is not known.${meant(name, MEMBERS)}`);
  const operation = operationOf(body['operation'], operations, fault);
  const change = changeOf(body, fault);
  const reason = lineOf(body['reason']);
  if (reason === undefined || reason.length > OVERRIDE_LIMITS.reason)
    fault('reason', `Give the reason in one line of at most ${OVERRIDE_LIMITS.reason} characters.`);
  else if (containsCredential(reason)) fault('reason', 'The reason must not contain a credential.');
  const by = operatorName(body['by']);
  if (by === undefined && body['by'] !== undefined && body['by'] !== '')
    fault('by', `The name must be one line of at most ${OVERRIDE_LIMITS.by} characters.`);
  const until = endOf(body, maxHours, now, fault);
  const facts = operation === undefined ? undefined : factsOf(operation);
  const without = change && facts && whyWithoutEffect(change, facts);
  if (without !== undefined) fault('kind', `The override would have no effect: ${without}.`);
  if (faults.length > 0 || operation === undefined || change === undefined) return faults;
  if (reason === undefined || until === undefined) return faults;
  return { ...change, operation, reason, by, until };
}

type AddFault = (field: string, message: string) => undefined;

function operationOf(value: unknown, known: readonly string[], fault: AddFault): string | undefined {
  if (typeof value !== 'string' || value === '') return fault('operation', 'Name an operation.');
  if (known.includes(value)) return value;
  return fault('operation', `The contract has no operation of this name.${meant(value, known)}`);
}

/** Reads the change that the override makes. A member that belongs to another kind of change is an error. */
function changeOf(body: PlainObject, fault: AddFault): OverrideChange | undefined {
  const { kind, check, level, maxStaleSeconds } = body;
  const known = OVERRIDE_KINDS.find((one) => one === kind);
  if (known === undefined) return fault('kind', `The kind must be one of ${OVERRIDE_KINDS.join(', ')}.`);
  const foreign = {
    level: { maxStaleSeconds },
    'force-stale': { check, level },
    disable: { check, level, maxStaleSeconds },
  };
  for (const [name, value] of Object.entries(foreign[known]))
    if (value !== undefined) fault(name, `${name} does not belong to the kind ${known}.`);
  if (known === 'disable') return { kind: known };
  if (known === 'force-stale') {
    const seconds = maxStaleSeconds ?? DEFAULT_STALE_SECONDS;
    const max = OVERRIDE_LIMITS.maxStaleSeconds;
    if (Number.isInteger(seconds) && (seconds as number) >= 1 && (seconds as number) <= max)
      return { kind: known, maxStaleSeconds: seconds as number };
    return fault('maxStaleSeconds', `maxStaleSeconds must be a whole number from 1 to ${max}.`);
  }
  const knownCheck = OVERRIDABLE_CHECKS.find((one) => one === check);
  const knownLevel = CHECK_LEVELS.find((one) => one === level);
  if (knownCheck === undefined) fault('check', whyNotOverridable(check));
  if (knownLevel === undefined) fault('level', `The level must be one of ${CHECK_LEVELS.join(', ')}.`);
  return knownCheck && knownLevel && { kind: known, check: knownCheck, level: knownLevel };
}

function whyNotOverridable(check: unknown): string {
  const checks = `The check must be one of ${OVERRIDABLE_CHECKS.join(', ')}`;
  const name = CHECK_NAMES.find((one) => one === check);
  if (name === undefined) return `${checks}.`;
  if (!CHECKS[name].ofOperation) return `${checks}: ${name} does not belong to an operation.`;
  return `${checks}: ${name} decides who may see data, so it cannot be overridden.`;
}

/** Reads the end of the override: an instant, or a number of minutes from now. */
function endOf({ until, forMinutes }: PlainObject, maxHours: number, now: number, fault: AddFault): number | undefined {
  const field = until === undefined && forMinutes !== undefined ? 'forMinutes' : 'until';
  if ((until === undefined) === (forMinutes === undefined))
    return fault(field, 'Give the end either as until (an instant) or as forMinutes.');
  const at = until === undefined ? now + minutesOf(forMinutes) * 60_000 : instantOf(until);
  if (Number.isNaN(at)) {
    const message = 'until must be an instant such as 2026-05-04T12:30:00Z.';
    return fault(field, field === 'until' ? message : 'forMinutes must be a number above 0.');
  }
  if (at <= now) return fault(field, 'The end must be in the future.');
  if (at - now > maxHours * HOUR_MS) return fault(field, `The end must be at most ${maxHours} hours from now.`);
  return at;
}

const minutesOf = (value: unknown) => (typeof value === 'number' && value > 0 ? value : Number.NaN);

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;
const instantOf = (value: unknown) =>
  typeof value === 'string' && INSTANT.test(value) ? Date.parse(value) : Number.NaN;

function meant(name: string, known: readonly string[]): string {
  const near = name.length > 100 ? undefined : closestName(name, known);
  return near === undefined ? '' : ` Did you mean ${near}?`;
}

const shownName = (name: string) => (/^\w{1,40}$/.test(name) ? name : 'a member');
