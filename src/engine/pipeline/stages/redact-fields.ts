import { etagOf } from '../../cache/representation.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { PrivateFields } from '../../model/operation.ts';
import type { Grants } from '../../permissions/decide.ts';
import type { Exchange } from '../exchange.ts';
import { redactMembers } from '../redact-members.ts';
import type { Reply } from '../reply.ts';
import type { StagePlanner } from '../stage.ts';

/** Removes the private fields of responses for callers who may not see them (docs/rules.md §3). */
export function redactFields(readerOf: (fields: PrivateFields) => (grants: Grants) => boolean): StagePlanner {
  return {
    name: 'redact-fields',
    plan({ operation, checks, transparent }) {
      const { privateFields } = operation;
      if (privateFields === undefined || checks.permissions !== 'enforce' || transparent) return undefined;
      const names = new Set(privateFields.names);
      const mayRead = readerOf(privateFields);
      // The buffers of stored pages known to contain no private fields. All callers share a stored page's buffer, so
      // each page is searched only once. Redacted copies are not stored, because they would double the memory used for
      // pages.
      const clean = new WeakSet<Buffer>();
      const redact = (exchange: Exchange, reply: Reply): Reply => {
        if (mayRead(exchange.grants) || !Buffer.isBuffer(reply.body) || reply.body.length === 0) return reply;
        if (reply.status >= 400 || clean.has(reply.body)) return reply;
        const redacted = redactMembers(reply.body, names);
        if (redacted === undefined) throw unreadable();
        if (redacted.removed.length > 0) {
          exchange.trace.redacted = redacted.removed;
          return withBody(reply, redacted.body, redacted.removed);
        }
        if (reply.storedAs !== undefined) clean.add(reply.body);
        return reply;
      };
      return (next) => (exchange) => {
        const reply = next(exchange);
        return reply instanceof Promise ? reply.then((later) => redact(exchange, later)) : redact(exchange, reply);
      };
    },
  };
}

/**
 * Returns the error for a body that is not JSON. Such a body must not be sent to the client, because it cannot be
 * redacted.
 */
function unreadable(): GatewayError {
  return new GatewayError('upstream_invalid_response', 'The upstream returned a body that is not JSON.');
}

function withBody(reply: Reply, body: Buffer, removed: readonly string[]): Reply {
  return {
    ...reply,
    body,
    headers: [...reply.headers, ['Portico-Redacted', removed.join(', ')]],
    ...(reply.etag === undefined ? {} : { etag: etagOf(body) }),
  };
}
