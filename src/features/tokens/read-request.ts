import type { AccountAccess } from '../../engine/permissions/compile-permissions.ts';
import { lineOf } from '../../engine/model/operator-name.ts';
import { containsCredential } from '../../engine/privacy/secret-text.ts';
import { DAY_MS } from '../../lib/clock.ts';
import { closestName } from '../../lib/closest-name.ts';
import { isPlainObject, type PlainObject } from '../../lib/plain-object.ts';
import { containsToken, isTokenId } from './token-format.ts';
import { isCallerName, isNetwork, LIMITS, type TokenGrant } from './token-record.ts';

/** An error in one member of an operator's request. */
export interface TokenFault {
  readonly field: string;
  readonly message: string;
}

/** What limits the tokens that an operator can create. */
export interface TokenRules {
  readonly now: number;
  readonly maxDays: number;
  /** The ids of the contract's operations. */
  readonly operations: readonly string[];
  /** Returns what an account may do. */
  readonly accessOf: (caller: string) => AccountAccess;
}

/** A token as requested by an operator. */
export interface RequestedToken {
  readonly grant: TokenGrant;
  readonly note: string | undefined;
}

const MEMBERS = ['for', 'scope', 'expiresDays', 'operations', 'networks', 'note'];
/** The longest time for which a replaced token stays valid. */
const MAX_OVERLAP_HOURS = 720;
const DEFAULT_OVERLAP_HOURS = 24;
const MAX_PASSWORD = 256;

type AddFault = (field: string, message: string) => undefined;

/** Reads an operator's request with `read`. Returns all errors in the request if there are any. */
function readWith<T>(
  body: unknown,
  members: readonly string[],
  read: (body: PlainObject, fault: AddFault) => T | undefined,
): T | readonly TokenFault[] {
  if (!isPlainObject(body)) return [{ field: '', message: 'Send a JSON object.' }];
  const faults: TokenFault[] = [];
  const fault: AddFault = (field, message) => {
    faults.push({ field, message });
    return undefined;
  };
  for (const name of Object.keys(body))
    if (!members.includes(name)) fault(shownName(name), `${shownName(name)} is not known.${meant(name, members)}`);
  const value = read(body, fault);
  return faults.length > 0 || value === undefined ? faults : value;
}

/** Returns whether a reading of a request failed. */
export const isRefused = (reading: object): reading is readonly TokenFault[] => Array.isArray(reading);

/** Reads a request for a new token. */
export function readNewToken(body: unknown, rules: TokenRules): RequestedToken | readonly TokenFault[] {
  return readWith(body, MEMBERS, (members, fault): RequestedToken | undefined => {
    const caller = callerOf(members['for'], rules, fault);
    const scope = listOf('scope', members['scope'], fault);
    if (members['scope'] === undefined)
      fault('scope', 'Name at least one permission of the account in scope, or a group or flag.');
    if (caller !== undefined && scope !== undefined) checkScope(scope, rules.accessOf(caller), fault);
    const operations = listOf('operations', members['operations'], fault);
    for (const name of operations ?? [])
      if (!rules.operations.includes(name))
        fault('operations', `The contract has no operation of this name.${meant(name, rules.operations)}`);
    const networks = listOf('networks', members['networks'], fault);
    if (networks?.every(isNetwork) === false)
      fault('networks', 'Each network must be an address, or a network such as 10.0.0.0/8 or 2001:db8::/32.');
    const days = daysOf(members['expiresDays'], rules, fault);
    const note = noteOf(members['note'], fault);
    if (caller === undefined || scope === undefined || days === undefined) return undefined;
    return { grant: { caller, scope, operations, networks, expiresAt: rules.now + days * DAY_MS }, note };
  });
}

/** Reads a request for the replacement of a token. */
export function readRotation(
  body: unknown,
  rules: Pick<TokenRules, 'maxDays'>,
): { readonly id: string; readonly overlapHours: number; readonly days: number | undefined } | readonly TokenFault[] {
  return readWith(body, ['id', 'overlapHours', 'expiresDays'], (members, fault) => {
    const id = idOf(members['id'], fault);
    const { overlapHours = DEFAULT_OVERLAP_HOURS, expiresDays } = members;
    const hours = numberIn(overlapHours, 0, MAX_OVERLAP_HOURS);
    if (hours === undefined) fault('overlapHours', `overlapHours must be a number from 0 to ${MAX_OVERLAP_HOURS}.`);
    const days = expiresDays === undefined ? undefined : daysOf(expiresDays, rules, fault);
    return id === undefined || hours === undefined ? undefined : { id, overlapHours: hours, days };
  });
}

/** Reads a request that names a token and nothing else. */
export function readTokenId(body: unknown): { readonly id: string } | readonly TokenFault[] {
  return readWith(body, ['id'], (members, fault) => {
    const id = idOf(members['id'], fault);
    return id === undefined ? undefined : { id };
  });
}

/** Reads a request that enrolls a password with a token. */
export function readEnrollment(
  body: unknown,
): { readonly id: string; readonly password: string } | readonly TokenFault[] {
  return readWith(body, ['id', 'password'], (members, fault) => {
    const id = idOf(members['id'], fault);
    const password = passwordOf(members['password'], fault);
    return id === undefined || password === undefined ? undefined : { id, password };
  });
}

/** Reads a caller's request to enroll its own password. */
export function readOwnPassword(body: unknown): { readonly password: string } | readonly TokenFault[] {
  return readWith(body, ['password'], (members, fault) => {
    const password = passwordOf(members['password'], fault);
    return password === undefined ? undefined : { password };
  });
}

function passwordOf(value: unknown, fault: AddFault): string | undefined {
  const isPassword =
    typeof value === 'string' &&
    value !== '' &&
    value.length <= MAX_PASSWORD &&
    // RFC 7617 §2 forbids control characters.
    !/\p{Cc}/u.test(value) &&
    !containsToken(value);
  if (isPassword) return value;
  return fault('password', `The password must have 1 to ${MAX_PASSWORD} characters, and not be a token.`);
}

function idOf(value: unknown, fault: AddFault): string | undefined {
  // People paste the whole token. Its secret must not be repeated in a message.
  if (typeof value === 'string' && value.startsWith('ptk_'))
    return fault('id', 'Give only the id of the token: the 16 characters after ptk_.');
  return isTokenId(value) ? value : fault('id', 'The id of a token has 16 hexadecimal digits; the list shows it.');
}

function callerOf(value: unknown, { accessOf }: Pick<TokenRules, 'accessOf'>, fault: AddFault): string | undefined {
  if (!isCallerName(value))
    return fault('for', 'Name the account in for: one line without a colon, of at most 256 characters.');
  const access = accessOf(value);
  return access.kind === 'denied'
    ? fault('for', 'The roles file has no account of this name, and roles.unmapped denies all others.')
    : value;
}

/** Reports the names that the caller does not have. A token can never do more than its caller. */
function checkScope(scope: readonly string[], access: AccountAccess, fault: AddFault): void {
  if (access.kind === 'denied') return;
  const lacking = scope.filter((name) => !access.names.includes(name));
  for (const name of lacking) {
    const who = access.kind === 'account' ? 'The account does not have' : 'A caller without an account does not have';
    const shown = name.length <= LIMITS.text && lineOf(name) === name ? `"${name}"` : 'one of these names';
    fault('scope', `${who} ${shown}.${meant(name, access.names)}`);
  }
}

const isText = (item: unknown) => typeof item === 'string' && item !== '' && item.length <= LIMITS.text;

function listOf(field: string, value: unknown, fault: AddFault): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const isList = Array.isArray(value) && value.length > 0 && value.length <= LIMITS.items;
  if (!isList || !value.every(isText)) return fault(field, `${field} must be a list of 1 to ${LIMITS.items} texts.`);
  return [...new Set(value as readonly string[])];
}

function daysOf(value: unknown, { maxDays }: Pick<TokenRules, 'maxDays'>, fault: AddFault): number | undefined {
  const days = numberIn(value, 0, maxDays);
  return days === undefined || days === 0
    ? fault('expiresDays', `A token must end, at the latest after ${maxDays} days (tokens.maxDays).`)
    : days;
}

const numberIn = (value: unknown, min: number, max: number) =>
  typeof value === 'number' && value >= min && value <= max ? value : undefined;

function noteOf(value: unknown, fault: AddFault): string | undefined {
  if (value === undefined || value === '') return undefined;
  const note = lineOf(value);
  if (note === undefined || note.length > LIMITS.note)
    return fault('note', `The note must be one line of at most ${LIMITS.note} characters.`);
  return containsCredential(note) ? fault('note', 'The note must not contain a credential.') : note;
}

function meant(name: string, known: readonly string[]): string {
  const near = name.length > 100 ? undefined : closestName(name, known);
  return near === undefined ? '' : ` Did you mean ${near}?`;
}

const shownName = (name: string) => (/^\w{1,40}$/.test(name) ? name : 'a member');
