import type { JsonLimits } from '../../lib/bounded-json.ts';
import type { Principal } from '../../model/principal.ts';
import { UpstreamFailure } from '../../model/upstream-failure.ts';
import type { PermissionMessage } from '../../upstream/failures/permission-message.ts';
import { toGatewayError } from '../../upstream/failures/transport-failure.ts';
import { translateFailure as translate } from '../../upstream/failures/translate-failure.ts';
import type { Reply } from '../reply.ts';
import type { StagePlanner } from '../stage.ts';

/** The services that the `translate-failure` stage needs. */
export interface TranslateFailureServices {
  /** The `WWW-Authenticate` header of a 401 response. */
  readonly challenge: string;
  readonly isPermissionMessage: PermissionMessage;
  /** Limits for parsing a response. */
  readonly jsonLimits: JsonLimits;
  /** Forgets that the principal's credential has been verified. */
  readonly forget: (principal: Principal) => void;
}

/**
 * Converts error responses from the upstream and transport failures into gateway errors. With the `legacy` error style,
 * error responses are forwarded unchanged.
 */
export function translateFailure(services: TranslateFailureServices): StagePlanner {
  return {
    name: 'translate-failure',
    plan({ operation, errors, serviceCredential, transparent }) {
      const documentedFields = new Set(operation.documentedFields);
      return (next) => async (exchange) => {
        let reply: Reply;
        try {
          reply = await next(exchange);
        } catch (error) {
          throw error instanceof UpstreamFailure ? toGatewayError(error) : error;
        }
        // With the `legacy` error style, nothing is translated. Only a 401 response matters, because the credential
        // must then no longer count as verified. In transparent mode, no credential is remembered as verified.
        if (errors === 'legacy' && (transparent || reply.status !== 401)) return reply;
        // A JSON body without an error at its top level means success. Every other body is inspected.
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
