import { packageVersion } from '../../files/package-root.ts';
import { type Settings, withUpstreamUrl } from '../../config/settings.ts';
import { movedLevels, movedWords } from '../../ladder/moved-levels.ts';
import { systemClock } from '../../lib/clock.ts';
import { REFERENCE_ACCOUNTS } from '../../reference/reference-accounts.ts';
import type { ReferenceServer } from '../../reference/start-reference-server.ts';
import { bannerLines } from '../terminal/banner.ts';
import { type Command, EXIT } from '../command.ts';
import { CONFIG_FLAGS, FAULT_NOTES, LISTEN_FLAGS, REFERENCE_FLAGS, settingsFrom } from '../config-flags.ts';
import { endWithRunner } from '../terminal/signals.ts';
import { letNurseryGrow } from '../v8-heap.ts';
import { untilSignal } from '../terminal/signals.ts';

/** `portico serve`: the gateway, with the reference server behind it while no upstream is configured. */
export const serveCommand: Command = {
  name: 'serve',
  summary: 'Run the gateway, on the embedded upstream unless there is a real one',
  words: '',
  wordCount: [0, 0],
  flags: [...CONFIG_FLAGS, ...LISTEN_FLAGS, ...REFERENCE_FLAGS],
  notes: [
    'Log lines go to standard output, the banner to standard error. SIGTERM and SIGINT let requests in flight finish.',
    '',
    ...FAULT_NOTES,
  ],
  run: async (line, io) => {
    const settings = await settingsFrom(line, io);
    const { createGateway } = await import('../../gateway.ts');
    const embedded = settings.embedded ? await startEmbedded(settings) : undefined;
    try {
      const gateway = await createGateway(embedded === undefined ? settings : withUpstreamUrl(settings, embedded.url));
      letNurseryGrow();
      const stop = untilSignal(process, systemClock, () => process.exit(EXIT.failed));
      endWithRunner();
      const accounts = embedded === undefined ? [] : REFERENCE_ACCOUNTS.map((account) => account.name);
      const { publicUrl, adminUrl } = gateway;
      const { ladder } = gateway.services;
      const moved = movedLevels(ladder.levels(), ladder.state()).map((one) => `${one.operation} ${movedWords(one)}`);
      const facts = {
        settings,
        version: packageVersion(),
        publicUrl,
        adminUrl,
        embeddedUrl: embedded?.url,
        accounts,
        moved,
      };
      bannerLines(facts).forEach(io.err);
      const signal = await stop;
      const { lameDuckSeconds: lameDuck, drainSeconds } = settings.listen;
      // Ctrl-C comes from a person at a terminal: there is no balancer to wait for.
      const lameDuckSeconds = signal === 'SIGTERM' ? lameDuck : 0;
      if (lameDuckSeconds > 0) io.err(`Not ready any more; serving for another ${lameDuckSeconds} s.`);
      io.err(`Draining, ${drainSeconds} s at most; a second signal ends at once.`);
      await gateway.close({ lameDuckSeconds });
      return EXIT.ok;
    } finally {
      await embedded?.close();
    }
  },
};

// Half of all modules belong to the reference server: in front of a real upstream they are never read.
async function startEmbedded({ reference, placeOf }: Settings): Promise<ReferenceServer> {
  const { startEmbeddedUpstream } = await import('./embedded-upstream.ts');
  return startEmbeddedUpstream(reference, { db: placeOf('/reference/db'), faults: placeOf('/reference/faults') });
}
