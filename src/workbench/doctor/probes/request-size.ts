import { LISTEN_DEFAULTS } from '../../../engine/config/general-options.ts';
import { applicable, type Probe, readableList } from '../probe.ts';

/**
 * The sizes to try for an additional header, in bytes. Each is slightly below a common default limit (4, 8 or 16 KiB).
 */
const SIZES = [3500, 7500, 15_500];

/** Determines the maximum size of a request head. */
export const requestSizeProbe: Probe = {
  name: 'request heads',
  does: `sends an additional header of ${SIZES.join(', ')} bytes, until the server refuses it`,
  requests: () => SIZES.length,
  run: async (context) => {
    const { operation, response } = readableList(context);
    let accepted = 0;
    for (const size of SIZES) {
      const headers = { 'X-Portico-Doctor': 'x'.repeat(size) };
      const result = await context.client.send({ path: operation.path, headers });
      // Some servers close the connection instead of sending an error status.
      if (result.kind === 'failure' || result.status !== response.status) {
        const how = result.kind === 'failure' ? 'by closing the connection' : `with ${result.status}`;
        const limit = accepted + 500;
        return {
          facts: [`A request head of about ${limit} bytes is accepted; ${size + 500} bytes are refused ${how}.`],
          recommendations: applicable([
            accepted > 0 && {
              key: 'listen.maxHeaderBytes',
              value: limit,
              reason: `The server refuses larger heads ${how}; Portico then refuses them with a clear 431.`,
            },
          ]),
        };
      }
      accepted = size;
    }
    return {
      facts: [
        `Request heads of ${accepted + 500} bytes are accepted (Portico’s limit: ${LISTEN_DEFAULTS.maxHeaderBytes}).`,
      ],
    };
  },
};
