import { GatewayError } from '../../errors/gateway-error.ts';
import type { UploadMemory } from '../../gdpr/upload-memory.ts';
import { countedAs } from '../../model/principal.ts';
import type { StagePlanner } from '../stage.ts';

/**
 * Refuses a GDPR upload if the same caller has recently made the same upload, unless the caller forces it
 * (docs/rules.md §9).
 */
export function refuseDuplicate(uploads: UploadMemory): StagePlanner {
  return {
    name: 'refuse-duplicate',
    plan({ operation, transparent }) {
      if (transparent || !operation.requestRules.includes('gdpr-csv')) return undefined;
      return (next) => async (exchange) => {
        if (!Buffer.isBuffer(exchange.body)) return next(exchange);
        const upload = await uploads.begin({
          caller: countedAs(exchange.principal),
          content: exchange.bodyIdentity ?? exchange.body,
          force: isForced(exchange.arrival.headers['portico-force']),
        });
        if (upload.verdict === 'duplicate') throw duplicate(upload.because);
        let status: number | undefined;
        try {
          const reply = await next(exchange);
          ({ status } = reply);
          return reply;
        } finally {
          upload.finish(status);
        }
      };
    },
  };
}

function duplicate(because: 'in flight' | 'accepted'): GatewayError {
  const text =
    because === 'accepted'
      ? 'The same file was uploaded a short time ago.'
      : 'The same file is already being uploaded.';
  return new GatewayError('duplicate_upload', text, {
    details: [{ in: 'header', name: 'Portico-Force', message: 'send "Portico-Force: true" to upload it again' }],
  });
}

/** Returns whether the value of the `Portico-Force` header forces a repeated upload. */
export function isForced(header: string | readonly string[] | undefined): boolean {
  return typeof header === 'string' && header.trim().toLowerCase() === 'true';
}
