import { packageVersion } from '../config/package-root.ts';
import { withUpstreamUrl } from '../config/settings.ts';
import { systemClock } from '../lib/clock.ts';
import { REFERENCE_ACCOUNTS } from '../reference/reference-accounts.ts';
import { bannerLines } from './banner.ts';
import { type Command, EXIT } from './command.ts';
import { CONFIG_FLAGS, FAULT_NOTES, LISTEN_FLAGS, REFERENCE_FLAGS, settingsFrom } from './config-flags.ts';
import { endWithRunner } from './end-with-runner.ts';
import { untilSignal } from './until-signal.ts';

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
    const { createGateway } = await import('../gateway.ts');
    const { startEmbeddedUpstream } = await import('./embedded-upstream.ts');
    const embedded = settings.embedded
      ? await startEmbeddedUpstream(settings.reference, {
          db: settings.placeOf('/reference/db'),
          faults: settings.placeOf('/reference/faults'),
        })
      : undefined;
    try {
      const gateway = await createGateway(embedded === undefined ? settings : withUpstreamUrl(settings, embedded.url));
      const stop = untilSignal(process, systemClock, () => process.exit(EXIT.failed));
      endWithRunner();
      const accounts = embedded === undefined ? [] : REFERENCE_ACCOUNTS.map((account) => account.name);
      const { publicUrl, adminUrl } = gateway;
      const facts = { settings, version: packageVersion(), publicUrl, adminUrl, embeddedUrl: embedded?.url, accounts };
      bannerLines(facts).forEach(io.err);
      await stop;
      io.err(`Draining, ${settings.listen.drainSeconds} s at most; a second signal ends at once.`);
      await gateway.close();
      return EXIT.ok;
    } finally {
      await embedded?.close();
    }
  },
};
