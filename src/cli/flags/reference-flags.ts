import type { Place } from '../../engine/config/settings.ts';
import type { Fault } from '../../engine/model/fault.ts';
import { CHAOS_EFFECTS, CHAOS_GRAMMAR } from '../../reference/chaos/chaos-kinds.ts';
import { ChaosSyntaxError, parseChaos } from '../../reference/chaos/parse-chaos.ts';
import type { ConfigFlag } from '../program.ts';

/** The flags for the reference server. */
export const REFERENCE_FLAGS: readonly ConfigFlag[] = [
  { name: 'db', pointer: '/reference/db', value: 'PATH', help: 'Database of the reference server, or :memory:.' },
  {
    name: 'seed',
    pointer: '/reference/seed',
    isNumber: true,
    value: 'NUMBER',
    help: 'Seed for the reference server’s data and chaos.',
  },
  {
    name: 'complete',
    pointer: '/reference/complete',
    help: 'Include every field that the contract expects; by default, a few list items lack one.',
  },
  {
    name: 'tracker',
    pointer: '/reference/issueTrackerUrl',
    value: 'URL',
    help: 'Base URL of an issue tracker that replaces the embedded one.',
  },
  {
    name: 'fault',
    pointer: '/reference/faults',
    value: 'NAME',
    multiple: true,
    help: 'Chaos to turn on; see below.',
  },
];

/** The help text for the `--fault` flag. It describes the syntax and the effect of each name. */
export const CHAOS_NOTES: readonly string[] = chaosNotes();

function chaosNotes(): string[] {
  const names = Object.entries(CHAOS_EFFECTS);
  const width = Math.max(...names.map(([name]) => name.length));
  return [
    `--fault ${CHAOS_GRAMMAR}; SHARE is the percentage of requests affected. Available names:`,
    ...names.map(([name, effect]) => `  ${name.padEnd(width)}  ${effect}`),
  ];
}

/** Returns one configuration error that describes all invalid chaos rules, or an empty list if all rules are valid. */
export function chaosErrors(texts: readonly string[], place: Place): readonly Fault[] {
  try {
    parseChaos(texts);
    return [];
  } catch (error) {
    if (!(error instanceof ChaosSyntaxError)) throw error;
    const suggestion = `the format is ${CHAOS_GRAMMAR}`;
    return [{ ...place, message: error.problems.join('; '), suggestion }];
  }
}
