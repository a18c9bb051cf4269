import type { IncomingMessage } from 'node:http';
import type { Clock } from '../lib/clock.ts';
import type { Principal } from '../model/principal.ts';
import type { AuthenticationTrace } from '../model/trace.ts';
import type { House } from '../pipeline/house.ts';
import type { KnownTarget, KnownTargets } from '../pipeline/known-targets.ts';
import { traceContext } from '../telemetry/trace-context.ts';
import { createPlainFields, type PlainFields } from './plain-fields.ts';
import { type RequestIdentity, requestIdOf } from './read-arrival.ts';

/** A plain GET of a target that was answered from memory before, by a caller who is known without a question. */
export interface Recognised {
  readonly known: KnownTarget;
  readonly principal: Principal;
  readonly authentication: AuthenticationTrace;
  readonly identity: RequestIdentity;
  readonly fields: PlainFields;
}

/** What requests are recognised by. */
export interface RecogniseServices {
  readonly house: Pick<House, 'authenticator' | 'checks'>;
  readonly knownTargets: KnownTargets;
  readonly clock: Clock;
}

/**
 * Recognises requests whose reading would tell nothing new: the target's text was read before, and the credential was
 * verified a short while ago. Every check of the plan still runs on them. Undefined sends a request the long way, which
 * judges it from the start; nothing has been counted or changed by then.
 */
export function createRecogniser(services: RecogniseServices): (req: IncomingMessage) => Recognised | undefined {
  const { house, knownTargets, clock } = services;
  const plainFields = createPlainFields();
  return (req) => {
    if (req.method !== 'GET' || req.url === undefined) return undefined;
    const known = knownTargets.recall(req.url);
    if (known === undefined) return undefined;
    const fields = plainFields(req.rawHeaders);
    if (fields === undefined) return undefined;
    const receivedAt = clock();
    const { plan } = known;
    // Past the contract such fields travel, and say who asks where they are alone.
    if (plan === undefined && (fields.cookie !== undefined || fields.authToken !== undefined)) return undefined;
    const recalled = house.authenticator.recall({
      authorizationHeader: fields.authorization,
      level: (plan ?? house).checks.authentication,
      needsCredential: plan?.operation.needsCredential ?? false,
      now: receivedAt,
    });
    if (recalled === undefined) return undefined;
    const { traceparent, tracestate } = traceContext(fields);
    const identity = { requestId: requestIdOf(fields.requestId), traceparent, tracestate, receivedAt };
    return { known, principal: recalled.principal, authentication: recalled.trace, identity, fields };
  };
}
