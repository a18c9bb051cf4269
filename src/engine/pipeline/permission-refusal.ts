import { GatewayError } from '../errors/gateway-error.ts';
import { undecidedRefusal } from '../identity/refusals.ts';
import { type Operation, PERMISSION_DENIED, type Requirement } from '../model/operation.ts';
import { type Principal, scopeHeaders } from '../model/principal.ts';
import type { Trace } from '../model/trace.ts';
import { documentedText } from './request-refusal.ts';

/** The refusal message for each unmet requirement that is not a permission. */
const PLAIN_WORDS: Readonly<Record<string, string>> = {
  'ownership of the node': 'Only the author of the node may do this.',
  'an account in the roles file': 'Your account has no role here.',
  "the account's own spelling of the name":
    'Your user name is another spelling of the name of an account here. Log in with the spelling of the account.',
};

/** The facts about a refused caller that determine which error is returned. */
interface Refused {
  readonly principal: Principal;
  readonly trace: Pick<Trace, 'authentication'>;
}

/**
 * Returns the error for a refused caller: 403 for a verified caller, 401 if a credential could help, and 429 or 503 if
 * the credential could not be verified (docs/rules.md §2).
 */
export function permissionRefusal(
  operation: Operation | undefined,
  { principal, trace }: Refused,
  missing: readonly string[],
  challenge: string,
): GatewayError {
  const undecided = principal.kind === 'unverified' ? undecidedRefusal(trace.authentication?.reason) : undefined;
  if (undecided !== undefined) return undecided;
  const ways = operation?.requires === undefined ? [] : waysToMeet(operation.requires, missing);
  const needed = ways.join(' or ');
  // The configuration can name only permissions, and the other requirements are not names.
  const kinds = operation?.requires === undefined ? undefined : kindsIn(operation.requires);
  const details = missing.map((name) => {
    const kind = Object.hasOwn(PLAIN_WORDS, name) ? undefined : (kinds?.get(name) ?? 'permission');
    return {
      ...(kind !== undefined && { [kind]: name }),
      message: `${ways.length > 1 ? needed : name} is required`,
    };
  });
  if (principal.kind !== 'verified')
    return new GatewayError('credentials_required', 'A credential with the required permission is needed.', {
      details,
      headers: { 'WWW-Authenticate': challenge },
    });
  const [first = ''] = missing;
  const own = PLAIN_WORDS[first] ?? `You need ${needed || `the permission "${first}"`} to do this.`;
  const text = operation === undefined ? own : documentedText(operation, 403, { keyword: PERMISSION_DENIED }, own);
  return new GatewayError('permission_denied', text, { details, headers: scopeHeaders(principal) });
}

type TermKind = 'permission' | 'group' | 'flag';

/** Returns the kind of each term in a requirement, keyed by the term's name. */
function kindsIn(requirement: Requirement): ReadonlyMap<string, TermKind> {
  if ('any' in requirement) return new Map(requirement.any.flatMap((one) => [...kindsIn(one)]));
  if ('all' in requirement) return new Map(requirement.all.flatMap((one) => [...kindsIn(one)]));
  if ('own' in requirement) return kindsIn(requirement.own);
  return new Map((Object.entries(requirement) as [TermKind, string][]).map(([kind, name]) => [name, kind]));
}

/** Describes the alternatives of an unmet requirement, each with only the terms that the caller lacks. */
function waysToMeet(requirement: Requirement, missing: readonly string[]): string[] {
  if ('any' in requirement) return requirement.any.flatMap((one) => waysToMeet(one, missing));
  if ('all' in requirement) {
    const parts = requirement.all.map((one) => waysToMeet(one, missing).join(' or ')).filter((part) => part !== '');
    return parts.length === 0 ? [] : [parts.join(' and ')];
  }
  if ('own' in requirement) return waysToMeet(requirement.own, missing);
  const [[kind, name] = ['', '']] = Object.entries(requirement);
  return missing.includes(name) ? [`the ${kind} "${name}"`] : [];
}
