import { resolve } from 'node:path';
import { systemClock } from '../../lib/clock.ts';
import { IN_MEMORY } from '../../lib/replace-file.ts';
import { EXIT, UsageError } from '../../lib/command.ts';
import type { ProgramCommand } from '../program.ts';
import { CHAOS_NOTES, REFERENCE_FLAGS } from '../flags/reference-flags.ts';
import { numberFlag } from '../../lib/flag-values.ts';
import { endWithRunner, untilSignal } from '../terminal/signals.ts';

/**
 * The `portico reference` command runs the reference server without the gateway, for testing clients and chaos rules.
 */
export const referenceCommand: ProgramCommand = {
  name: 'reference',
  summary: 'Run the reference server without the gateway',
  args: '',
  argCount: [0, 0],
  flags: [
    { name: 'port', value: 'PORT', help: 'Port; 8090 by default, 0 for any free port.' },
    { name: 'host', value: 'HOST', help: 'Address; 127.0.0.1 by default.' },
    { name: 'base-path', value: 'PATH', help: 'Path prefix before /services/v2, for example /qa.' },
    ...REFERENCE_FLAGS,
  ],
  notes: [
    'Each account’s password is its name, so do not expose the server beyond the loopback interface.',
    '',
    ...CHAOS_NOTES,
  ],
  run: async (line, io) => {
    const { startEmbeddedUpstream } = await import('../tasks/embedded-upstream.ts');
    const db = line.last('db') ?? '.portico/reference.db';
    const tracker = line.last('tracker');
    const server = await startEmbeddedUpstream(
      {
        db: db === IN_MEMORY ? db : resolve(io.cwd, db),
        seed: numberFlag(line, 'seed', 1, [0, 4_294_967_295]),
        complete: line.last('complete') !== undefined,
        faults: line.all('fault'),
        ...(tracker !== undefined && { issueTrackerUrl: tracker }),
      },
      { db: { source: '--db', pointer: '' }, faults: { source: '--fault', pointer: '' } },
      {
        host: line.last('host') ?? '127.0.0.1',
        port: numberFlag(line, 'port', 8090, [0, 65_535]),
        basePath: basePathOf(line.last('base-path') ?? ''),
      },
    );
    const stop = untilSignal(process, systemClock, () => process.exit(EXIT.failed));
    endWithRunner();
    io.err(`Reference server: ${server.url}`);
    io.err(`Issue tracker:    ${server.trackerUrl}`);
    await stop;
    await server.close();
    return EXIT.ok;
  },
};

function basePathOf(text: string): string {
  if (/^(?:\/[A-Za-z0-9._~-]+)*$/.test(text)) return text;
  throw new UsageError('--base-path must be a path such as /qa, without a trailing slash');
}
