import type { JsonLimits } from '../../lib/bounded-json.ts';
import type { Principal } from '../../model/principal.ts';
import { UpstreamFailure } from '../../model/upstream-failure.ts';
import type { PermissionMessage } from '../../upstream/permission-message.ts';
import { toGatewayError } from '../../upstream/transport-failure.ts';
import { translateFailure as translate } from '../../upstream/translate-failure.ts';
import type { Exchange } from '../exchange.ts';
import type { Reply } from '../reply.ts';
import type { Handler, StagePlanner } from '../stage.ts';

/** What the stage needs from the rest of the gateway. */
export interface TranslateFailureServices {
  /** `WWW-Authenticate` of a 401. */
  readonly challenge: string;
  readonly isPermissionMessage: PermissionMessage;
  /** What a response may hold to be parsed. */
  readonly jsonLimits: JsonLimits;
  /** Forgets that this principal's credential was found valid. */
  readonly forget: (principal: Principal) => void;
}

/** Turns error answers of the upstream and transport failures into our errors; `legacy` keeps the answers as they are. */
export function translateFailure(services: TranslateFailureServices): StagePlanner {
  return {
    name: 'translate-failure',
    plan({ operation, errors, serviceCredential, transparent }) {
      const documentedFields = new Set(operation.documentedFields);
      return (next) => async (exchange) => {
        const reply = await answer(next, exchange);
        // Nobody verifies a credential where everything passes as it is, so nothing is translated nor forgotten there.
        if (errors === 'legacy' && (transparent || reply.status !== 401)) return reply;
        // What is JSON without an error at its top is a success; anything else is looked at closely.
        if (reply.status < 300 && reply.facts?.body.isJson === true && !reply.facts.body.hasTopLevelError) return reply;
        const service = serviceCredential && !exchange.delegated;
        const failure = translate(reply, {
          documentedErrors: operation.documentedErrors,
          documentedFields,
          credential: service ? 'service' : exchange.principal.authorization === undefined ? 'none' : 'caller',
          isPermissionMessage: services.isPermissionMessage,
          challenge: services.challenge,
          jsonLimits: services.jsonLimits,
        });
        if (failure === undefined) return reply;
        if (failure.dropVerified) services.forget(exchange.principal);
        if (errors === 'legacy') return reply;
        throw failure.error;
      };
    },
  };
}

/** The answer of the rest of the plan, with a failure of the transport as one of our errors. */
async function answer(next: Handler, exchange: Exchange): Promise<Reply> {
  try {
    return await next(exchange);
  } catch (error) {
    throw error instanceof UpstreamFailure ? toGatewayError(error) : error;
  }
}
