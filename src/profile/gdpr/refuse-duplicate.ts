import type { ErrorKind } from '../../engine/errors/catalogue.ts';
import { GatewayError } from '../../engine/errors/gateway-error.ts';
import { countedAs } from '../../engine/model/principal.ts';
import type { FeatureStage } from '../../engine/pipeline/stage.ts';
import { gdprCsv } from './gdpr-csv.ts';
import type { UploadMemory } from './upload-memory.ts';

/** The error of an upload that was sent before. */
export const DUPLICATE_UPLOAD: ErrorKind = { code: 'duplicate_upload', status: 409, title: 'Duplicate upload' };

/**
 * Refuses a GDPR upload if the same caller has recently made the same upload, unless the caller forces it
 * (docs/rules.md §9). If `isPeek` is true, the stage decides the same but remembers nothing.
 */
export function refuseDuplicate(uploads: UploadMemory, windowMs: number, isPeek = false): FeatureStage {
  return {
    name: 'refuse-duplicate',
    before: 'bound-page',
    plan({ operation, transparent }) {
      if (transparent || !operation.requestRules.includes(gdprCsv.name)) return undefined;
      return (next) => async (exchange) => {
        if (!Buffer.isBuffer(exchange.body)) return next(exchange);
        const upload = await uploads.begin({
          caller: countedAs(exchange.principal),
          content: exchange.bodyIdentity ?? exchange.body,
          windowMs,
          isPeek,
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
  return new GatewayError(DUPLICATE_UPLOAD, text, {
    details: [{ in: 'header', name: 'Portico-Force', message: 'send "Portico-Force: true" to upload it again' }],
  });
}

/** Returns whether the value of the `Portico-Force` header forces a repeated upload. */
export function isForced(header: string | readonly string[] | undefined): boolean {
  return typeof header === 'string' && header.trim().toLowerCase() === 'true';
}
