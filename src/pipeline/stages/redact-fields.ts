import { redactMembers } from '../../comments/redact-members.ts';
import { etagOf } from '../../cache/etag-of.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import { whenReady } from '../../lib/when-ready.ts';
import type { Grants } from '../../permissions/grants.ts';
import type { Reply } from '../reply.ts';
import type { StagePlanner } from '../stage.ts';

const PRIVATE_FIELDS: ReadonlySet<string> = new Set(['visibility', 'recipients']);

/** A body without its private fields. */
interface Redacted {
  readonly body: Buffer;
  readonly removed: readonly string[];
  readonly etag: string;
}

/** Takes the private fields of comments out for callers without the permission to see them (rules, 3). */
export function redactFields(mayRead: (grants: Grants) => boolean): StagePlanner {
  return {
    name: 'redact-fields',
    plan({ operation, checks, transparent }) {
      if (!operation.carriesPrivateFields || checks.permissions !== 'enforce' || transparent) return undefined;
      // A kept page is the same buffer for everybody who is served from it, so that it is looked through once.
      const known = new WeakMap<Buffer, Redacted>();
      const redactedOf = (body: Buffer): Redacted => {
        const before = known.get(body);
        if (before !== undefined) return before;
        const redacted = redactMembers(body, PRIVATE_FIELDS);
        if (redacted === undefined) throw unreadable();
        const made = { ...redacted, etag: redacted.removed.length === 0 ? '' : etagOf(redacted.body) };
        known.set(body, made);
        return made;
      };
      return (next) => (exchange) =>
        whenReady(next(exchange), (reply) => {
          if (mayRead(exchange.grants) || !Buffer.isBuffer(reply.body) || reply.body.length === 0) return reply;
          if (reply.status >= 400) return reply;
          const redacted = redactedOf(reply.body);
          if (redacted.removed.length === 0) return reply;
          exchange.trace.redacted = redacted.removed;
          return withBody(reply, redacted);
        });
    },
  };
}

/** What cannot be read cannot be redacted, so it is not shown at all. */
function unreadable(): GatewayError {
  return new GatewayError('upstream_invalid_response', 'The upstream answered with a body that is not JSON.');
}

function withBody(reply: Reply, { body, removed, etag }: Redacted): Reply {
  return {
    ...reply,
    body,
    headers: [...reply.headers, ['Portico-Redacted', removed.join(', ')]],
    ...(reply.etag === undefined ? {} : { etag }),
  };
}
