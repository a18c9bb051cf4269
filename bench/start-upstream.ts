import { join } from 'node:path';
import { LOAD_CORE } from './cores.ts';
import { freePort } from './free-port.ts';
import type { PageSize } from './pages.ts';
import { type Running, startProgram } from './process-tree.ts';
import type { UpstreamVariant } from './upstream.ts';

/** The upstream that all servers share. Each variant of its pages has its own port. */
export interface Upstream {
  readonly running: Running;
  portOf(size: PageSize, kind: UpstreamVariant['kind']): number;
}

/** Starts the upstream, which serves pages of every size and kind, on the load core. */
export async function startUpstream(folder: string): Promise<Upstream> {
  const variants: UpstreamVariant[] = [];
  for (const size of ['2k', '29k', '200k'] as const)
    for (const kind of ['same', 'stamped', 'undocumented', 'gzip', 'tagged'] as const)
      variants.push({ size, kind, port: await freePort() });
  const running = await startProgram({
    name: 'upstream',
    command: process.execPath,
    args: [join(import.meta.dirname, 'upstream.ts'), JSON.stringify(variants)],
    core: LOAD_CORE,
    port: variants.at(-1)?.port ?? 0,
    output: join(folder, 'upstream.log'),
  });
  return {
    running,
    portOf: (size, kind) => {
      const found = variants.find((one) => one.size === size && one.kind === kind);
      if (found === undefined) throw new Error(`there is no upstream variant ${size} ${kind}`);
      return found.port;
    },
  };
}
