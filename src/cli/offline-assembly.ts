import { type Settings, withUpstreamUrl } from '../config/settings.ts';
import type { Assembly } from '../gateway.ts';

// Nothing listens there; what is only printed never calls it.
const NOWHERE = 'http://127.0.0.1:9';

/** Assembles the gateway without sockets, does something with it, and closes it. */
export async function withAssembly<T>(settings: Settings, use: (assembly: Assembly) => T | Promise<T>): Promise<T> {
  const { assembleGateway } = await import('../gateway.ts');
  const assembly = assembleGateway(settings.embedded ? withUpstreamUrl(settings, NOWHERE) : settings);
  try {
    return await use(assembly);
  } finally {
    await assembly.close();
  }
}
