import {
  type GatewayProcess,
  openProcessGroup,
  type RunScene,
  startGateway,
  startUpstream,
} from '../../../tools/prove/load/processes.ts';

/**
 * Runs scenarios with the same upstream, one after another or, if they do not change the upstream's settings, at the
 * same time. Each scenario reuses the gateways that previous ones left running: it reloads their configuration, which
 * is much cheaper than starting a new gateway. If the configurations differ in keys that require a restart, a new
 * gateway is started.
 */
export async function openSharedScenes(): Promise<{ readonly inScene: RunScene; close(): Promise<void> }> {
  const { group, close } = openProcessGroup();
  const upstream = await startUpstream(group.children);
  const idle: GatewayProcess[] = [];
  return {
    inScene: async (run) => {
      await upstream.set({ faultShare: 0, delayMs: 0 });
      const used: GatewayProcess[] = [];
      const result = await run({
        upstream,
        startGateway: async (config = {}, variables = {}) => {
          const found = idle.pop();
          const isReloaded = await found?.reload(config);
          const gateway =
            isReloaded === true && found !== undefined
              ? found
              : await startGateway(group, upstream.url, { config, variables });
          used.push(gateway);
          return gateway;
        },
      });
      // If the scenario failed, its gateways may be in any state, so they are not used again.
      idle.push(...used.filter((gateway) => gateway.pid() !== 0));
      return result;
    },
    close,
  };
}
