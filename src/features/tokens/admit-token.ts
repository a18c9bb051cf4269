import type { ErrorKind } from '../../engine/errors/catalogue.ts';
import { GatewayError } from '../../engine/errors/gateway-error.ts';
import { scopeHeaders } from '../../engine/model/principal.ts';
import { createTraceSlot } from '../../engine/model/trace-slot.ts';
import type { KnownRequest } from '../../engine/pipeline/exchange.ts';
import type { FeatureStage, Stage } from '../../engine/pipeline/stage.ts';
import { isInNetworks } from './networks.ts';
import type { TokensAtWork } from './tokens-at-work.ts';

/** The error of a request with a valid token that does not allow it. */
export const TOKEN_NOT_ALLOWED: ErrorKind = {
  code: 'token_not_allowed',
  status: 403,
  title: 'Not allowed with this token',
};

/** The place of the token's id in a request's trace. */
export const USED_TOKEN = createTraceSlot<string>();

/**
 * Refuses a request whose token is restricted to other operations or networks, before anything is decided about its
 * caller. If `isPassive` is true, the stage decides the same, but does not note the use of the token.
 */
export function admitToken(tokens: TokensAtWork, isPassive = false): FeatureStage {
  const stageFor =
    <E extends KnownRequest>(operation: string | undefined): Stage<E> =>
    (next) =>
    (exchange) => {
      admit(tokens, exchange, operation, isPassive);
      return next(exchange);
    };
  return {
    name: 'admit-token',
    before: 'authorize',
    // In `observe` mode, no token is verified.
    plan: ({ operation, transparent }) => (transparent ? undefined : stageFor(operation.id)),
    planUndocumented: ({ transparent }) => (transparent ? undefined : stageFor(undefined)),
  };
}

function admit(
  tokens: TokensAtWork,
  { principal, arrival, trace }: KnownRequest,
  operation: string | undefined,
  isPassive: boolean,
): void {
  if (principal.access === undefined) return;
  const used = tokens.usedBy(principal);
  if (used === undefined) return;
  const { id, operations, networks } = used;
  USED_TOKEN.set(trace, id);
  if (networks !== undefined && !isInNetworks(arrival.clientAddress, networks))
    throw new GatewayError(TOKEN_NOT_ALLOWED, 'This token is not accepted from the address of the client.');
  if (operations !== undefined && (operation === undefined || !operations.includes(operation)))
    throw new GatewayError(TOKEN_NOT_ALLOWED, 'This token is not accepted for this operation.', {
      headers: scopeHeaders(principal),
    });
  if (!isPassive) tokens.noteUse(used);
}
