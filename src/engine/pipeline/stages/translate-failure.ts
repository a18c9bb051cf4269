import type { GatewayError } from '../../errors/gateway-error.ts';
import type { JsonLimits } from '../../../lib/bounded-json.ts';
import type { HeaderPairs } from '../../model/header-pairs.ts';
import type { Operation } from '../../model/operation.ts';
import type { Authenticator } from '../../identity/create-authenticator.ts';
import { addIncident, checkFailed, ERROR_INSIDE, type ErrorsTrace, type Trace } from '../../model/trace.ts';
import { UpstreamFailure } from '../../model/upstream-failure.ts';
import type { Incident, Violation } from '../../model/violation.ts';
import type { PermissionMessage } from '../../upstream/failures/permission-message.ts';
import { toGatewayError } from '../../upstream/failures/transport-failure.ts';
import { normalizeFailure, type TranslatedFailure } from '../../upstream/failures/normalize-failure.ts';
import type { InspectedBody } from '../../upstream/response-body.ts';
import type { Exchange } from '../exchange.ts';
import type { Reply } from '../reply.ts';
import type { PlannedOperation, StagePlanner } from '../stage.ts';

/** The services that the `translate-failure` stage needs. */
export interface TranslateFailureServices {
  /** The `WWW-Authenticate` header of a 401 response. */
  readonly challenge: string;
  readonly isPermissionMessage: PermissionMessage;
  /** Limits for parsing a response. */
  readonly jsonLimits: JsonLimits;
  /** Forgets that the principal's credential has been verified. */
  readonly authenticator: Pick<Authenticator, 'forget'>;
  /** Returns whether a baseline or an overlay accepts a violation or an incident. */
  readonly isAccepted: (operation: Operation, violation: Violation, status: number) => boolean;
  /** Removes the content coding of a transparent response so that the response can be inspected. */
  readonly decode: (headers: HeaderPairs, body: Buffer) => Promise<InspectedBody>;
}

/**
 * Converts error responses from the upstream and transport failures into gateway errors (docs/rules.md §8). With the
 * `legacy` error style, error responses are forwarded unchanged.
 *
 * This is the only place that decides which errors get another status. It also foretells it: the verdict `errors` in the
 * trace states whether the status changes, or would change if errors were normalized, and the ledger counts from which
 * status to which.
 */
export function translateFailure(services: TranslateFailureServices): StagePlanner {
  return {
    name: 'translate-failure',
    plan(planned) {
      const { operation, errors, translation: level, transparent } = planned;
      const read = failureReader(planned, services);
      const passed: ErrorsTrace = level === 'off' ? KEPT : { level, outcome: 'passed' };
      const incidentOf = createIncidents(operation);
      return (next) => async (exchange) => {
        let reply: Reply;
        try {
          reply = await next(exchange);
        } catch (error) {
          throw error instanceof UpstreamFailure ? toGatewayError(error) : error;
        }
        const { trace } = exchange;
        trace.errors = passed;
        // A JSON body without an error at its top level means success. Every other body is inspected.
        if (reply.status < 300 && reply.facts?.body.isJson === true && !reply.facts.body.hasTopLevelError) return reply;
        let failure: TranslatedFailure | undefined;
        try {
          failure = await read(exchange, reply);
        } catch (error) {
          if (errors === 'normalized' && !transparent) throw error;
          checkFailed(trace, 'errors', level, error);
          return reply;
        }
        if (failure === undefined) return reply;
        // In transparent mode, no credential is remembered as verified.
        if (failure.dropVerified && (errors === 'normalized' || !transparent))
          services.authenticator.forget(exchange.principal);
        recordErrorInside(trace);
        if (level === 'off') return reply;
        const { error } = failure;
        if (error.status === reply.status) {
          if (errors === 'legacy') return reply;
          throw error;
        }
        const incident = incidentOf(reply.status, error);
        const isAccepted = mayBeAccepted(error) && services.isAccepted(operation, incident, reply.status);
        if (isAccepted || (mayBeAccepted(error) && reply.facts?.validity === 'accepted')) {
          if (isAccepted) addIncident(trace, incident);
          trace.errors = { level, outcome: 'passed', reason: 'accepted' };
          return reply;
        }
        addIncident(trace, incident);
        const outcome = level === 'enforce' ? 'refused' : 'reported';
        trace.errors = { level, outcome, changedTo: error.status };
        if (errors === 'legacy') return reply;
        throw error;
      };
    },
  };
}

const KEPT: ErrorsTrace = { level: 'off', outcome: 'skipped', reason: 'off' };

/** The status change that cannot be accepted, because accepting it would hide that the service account is refused. */
const mayBeAccepted = ({ code }: GatewayError): boolean => code !== 'upstream_credentials_refused';

/** Describes in one line what happens to an operation's upstream errors. */
export function describeTranslation({
  operation,
  translation,
}: Pick<PlannedOperation, 'operation' | 'translation'>): string {
  const keeps = `operations: { ${operation.id}: { errors: legacy } }`;
  const changes =
    'redirects, HTML pages, errors in a 200 and 5xx statuses other than 503 and 504 become 502, and permission messages become 403';
  if (translation === 'enforce') return `${changes}; ${keeps} keeps them`;
  return translation === 'report'
    ? `none in this mode; with normalized errors, ${changes}; ${keeps} keeps them`
    : 'none: upstream errors are forwarded unchanged';
}

/** Returns a function that returns the error which normalized errors put in the place of an error response. */
function failureReader(
  { operation, serviceCredential, transparent }: PlannedOperation,
  { challenge, isPermissionMessage, jsonLimits, decode }: TranslateFailureServices,
): (exchange: Exchange, reply: Reply) => Promise<TranslatedFailure | undefined> {
  const documentedFields = new Set(operation.documentedFields);
  const { documentedErrors, serverErrors } = operation;
  const decoded = async (reply: Reply): Promise<Reply> => {
    const body = Buffer.isBuffer(reply.body) ? await decode(reply.headers, reply.body) : undefined;
    return Buffer.isBuffer(body) ? { ...reply, body } : reply;
  };
  return async ({ principal, delegated }, reply) => {
    const service = serviceCredential && !delegated;
    return normalizeFailure(transparent ? await decoded(reply) : reply, {
      serverErrors,
      documentedErrors,
      documentedFields,
      credential: service ? 'service' : principal.authorization === undefined ? 'none' : 'caller',
      isPermissionMessage,
      challenge,
      jsonLimits,
    });
  };
}

/** Records that a response with a successful status is an error, so that it is not taken for a permission. */
function recordErrorInside(trace: Trace): void {
  if (trace.upstream?.status !== undefined && trace.upstream.status < 300)
    trace.upstream = { ...trace.upstream, shape: ERROR_INSIDE };
}

/**
 * Returns a function that creates the incident for a status change. It returns the same object every time, so that the
 * ledger recognizes it quickly. The number of objects is limited by the number of statuses and error codes.
 */
function createIncidents({ id }: Operation): (from: number, error: GatewayError) => Incident {
  const known = new Map<string, Incident>();
  return (from, { code, status }) => {
    const key = `${from} ${code}`;
    const incident = known.get(key) ?? {
      check: 'errors',
      direction: 'response',
      category: 'advisory',
      location: 'status',
      at: '',
      keyword: code,
      schemaPath: '',
      message: `With normalized errors, status ${from} becomes ${status} (${code}).`,
      suggestion: keepErrors(id),
    };
    known.set(key, incident);
    return incident;
  };
}

/** Returns the setting that keeps the upstream's errors of an operation. */
const keepErrors = (id: string): string => `operations.${id}.errors: legacy`;
