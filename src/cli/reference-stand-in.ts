import { resolve } from 'node:path';
import { IN_MEMORY } from '../lib/replace-file.ts';
import { type ReferenceOptions, referenceOf } from '../profile/reference-options.ts';
import { REFERENCE_ACCOUNTS } from '../reference/reference-accounts.ts';
import type { Settings } from '../engine/config/settings.ts';
import { CHAOS_NOTES, chaosErrors, REFERENCE_FLAGS } from './flags/reference-flags.ts';
import type { StandIn } from './program.ts';

/** The reference server, which Portico runs in place of the legacy server. */
export const REFERENCE: StandIn = {
  name: 'the reference server',
  flags: REFERENCE_FLAGS,
  notes: CHAOS_NOTES,
  accounts: REFERENCE_ACCOUNTS.map(({ name }) => name),
  command: {
    name: 'reference',
    load: async () => (await import('./commands/reference-command.ts')).referenceCommand,
  },
  faults: (settings) => chaosErrors(optionsIn(settings).faults, settings.placeOf('/reference/faults')),
  describe(settings) {
    const { db, faults } = optionsIn(settings);
    const chaos = faults.length === 0 ? '' : `, chaos: ${faults.join(', ')}`;
    return `embedded reference server, ${db}${chaos}`;
  },
  async start(settings, cwd) {
    const { placeOf } = settings;
    const options = optionsIn(settings);
    // The reference server accounts for half of all modules, so it is imported only when needed.
    const { startEmbeddedUpstream } = await import('./tasks/embedded-upstream.ts');
    return startEmbeddedUpstream(
      { ...options, db: options.db === IN_MEMORY ? IN_MEMORY : resolve(cwd, options.db) },
      { db: placeOf('/reference/db'), faults: placeOf('/reference/faults') },
    );
  },
};

function optionsIn(settings: Settings): ReferenceOptions {
  const options = referenceOf(settings);
  if (options === undefined) throw new Error('a product with the reference server needs the feature `reference`');
  return options;
}
