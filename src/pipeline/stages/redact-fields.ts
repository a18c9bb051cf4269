import { redactMembers } from '../../comments/redact-members.ts';
import { etagOf } from '../../cache/representation.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Grants } from '../../permissions/decide.ts';
import type { Exchange } from '../exchange.ts';
import type { Reply } from '../reply.ts';
import type { StagePlanner } from '../stage.ts';

const PRIVATE_FIELDS: ReadonlySet<string> = new Set(['visibility', 'recipients']);

/** Removes the private fields of comments for callers who may not see them (docs/rules.md §3). */
export function redactFields(mayRead: (grants: Grants) => boolean): StagePlanner {
  return {
    name: 'redact-fields',
    plan({ operation, checks, transparent }) {
      if (!operation.carriesPrivateFields || checks.permissions !== 'enforce' || transparent) return undefined;
      // The buffers of stored pages known to contain no private fields. All callers share a stored page's buffer, so
      // each page is searched only once. Redacted copies are not stored, because they would double the memory used for
      // pages.
      const clean = new WeakSet<Buffer>();
      const redact = (exchange: Exchange, reply: Reply): Reply => {
        if (mayRead(exchange.grants) || !Buffer.isBuffer(reply.body) || reply.body.length === 0) return reply;
        if (reply.status >= 400 || clean.has(reply.body)) return reply;
        const redacted = redactMembers(reply.body, PRIVATE_FIELDS);
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
