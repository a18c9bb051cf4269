import { flushCompileCache } from 'node:module';
import { packageVersion } from '../../lib/package-root.ts';
import { type Settings, withDemoState, withUpstreamUrl } from '../../engine/config/settings.ts';
import { StartFault } from '../../engine/model/fault.ts';
import { systemClock } from '../../lib/clock.ts';
import { bannerLines } from '../terminal/banner.ts';
import { EXIT } from '../../lib/command.ts';
import type { ProgramCommand, ProgramProduct, StandIn } from '../program.ts';
import { CONFIG_FLAGS, LISTEN_FLAGS, readSettingsFrom, settingsFrom } from '../flags/config-flags.ts';
import { endWithRunner, untilSignal, onReloadSignal, terminalWatch } from '../terminal/signals.ts';
import { useFlagsForServing } from '../v8-flags.ts';

/**
 * Creates the `portico serve` command, which runs the gateway. If no upstream is configured, it uses the product's
 * stand-in.
 */
export const createServeCommand = ({ standIn }: ProgramProduct): ProgramCommand => ({
  name: 'serve',
  summary:
    standIn === undefined
      ? 'Run the gateway'
      : `Run the gateway, along with ${standIn.name} if no upstream is configured`,
  args: '',
  argCount: [0, 0],
  flags: [...CONFIG_FLAGS, ...LISTEN_FLAGS, ...(standIn?.flags ?? [])],
  notes: [
    'Logs go to standard output, and the banner to standard error. After SIGTERM or SIGINT, requests in flight can still finish.',
    'SIGHUP reloads the configuration, as portico reload does.',
    ...(standIn === undefined ? [] : ['', ...standIn.notes]),
  ],
  run: async (line, io) => {
    const settings = await settingsFrom(line, io);
    const embedded = settings.embedded ? await startStandIn(standIn, settings, io.cwd) : undefined;
    try {
      const complete = (read: Settings) =>
        embedded !== undefined && read.embedded ? withUpstreamUrl(withDemoState(read), embedded.url) : read;
      const { createGateway } = await import('../../engine/gateway.ts');
      storeCompiledCode();
      const gateway = await createGateway(complete(settings), {
        readSettings: () => {
          const { settings: next, faults } = readSettingsFrom(line, io);
          return { settings: complete(next), faults };
        },
      });
      onReloadSignal(process, {
        onReload: () => void gateway.reload('signal'),
        onHangup: () => process.kill(process.pid, 'SIGTERM'),
        isTerminalGone: terminalWatch(io.stdin.isTTY === true),
      });
      useFlagsForServing();
      const stop = untilSignal(process, systemClock, () => process.exit(EXIT.failed));
      endWithRunner();
      const accounts = embedded === undefined ? [] : (standIn?.accounts ?? []);
      const { publicUrl, adminUrl } = gateway;
      const content = {
        settings,
        version: packageVersion(),
        publicUrl,
        adminUrl,
        standIn: embedded && `${embedded.url}  (${standIn?.describe(settings) ?? ''})`,
        accounts,
        changes: [...gateway.gateway.plans].flatMap(([id, { changes = [] }]) =>
          changes.map((change) => [id, change] as const),
        ),
      };
      bannerLines(content).forEach(io.err);
      const signal = await stop;
      const { lameDuckSeconds: lameDuck, drainSeconds } = gateway.settings.listen;
      // After Ctrl-C in a terminal, there is no need to give a load balancer time to notice the shutdown.
      const lameDuckSeconds = signal === 'SIGTERM' ? lameDuck : 0;
      if (lameDuckSeconds > 0) io.err(`No longer ready; serving for another ${lameDuckSeconds} s.`);
      io.err(`Draining for at most ${drainSeconds} s; send another signal to exit immediately.`);
      await gateway.close({ lameDuckSeconds });
      return EXIT.ok;
    } finally {
      await embedded?.close();
    }
  },
});

/**
 * Makes Node write the compiled code of all modules imported so far to its cache. By default, Node writes it only when
 * the process exits, and never if the process is killed. This function is called before the gateway listens. It takes
 * time only if code was compiled.
 */
function storeCompiledCode(): void {
  flushCompileCache();
}

/** Starts the server that stands in for the upstream. Throws a `StartFault` if the product has none. */
function startStandIn(standIn: StandIn | undefined, settings: Settings, cwd: string): ReturnType<StandIn['start']> {
  if (standIn !== undefined) return standIn.start(settings, cwd);
  throw new StartFault([
    {
      ...settings.placeOf('/upstream/url'),
      message: 'is required, because this program has no server to run in place of the real one',
      suggestion: 'set UPSTREAM_URL',
    },
  ]);
}
