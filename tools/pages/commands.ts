import type { Command, Flag } from '../../src/lib/command.ts';
import { FORMAT_FLAG } from '../../src/cli/command-output.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { CONFIG_FLAGS } from '../../src/cli/flags/config-flags.ts';
import { CHAOS_NOTES } from '../../src/cli/flags/reference-flags.ts';
import { flagLines, usageOf } from '../../src/cli/run-program.ts';
import { withExamples } from '../../src/cli/program.ts';
import { PORTICO } from '../../src/portico-settings.ts';
import { code } from './markdown.ts';

/** The flags that the page describes only once, because many commands have them. */
const COMMON: readonly Flag[] = [...CONFIG_FLAGS, FORMAT_FLAG];

const CHAOS = CHAOS_NOTES.join('\n');

/** Returns the usage, flags and notes of every command; what several commands have in common appears once. */
export async function commands(): Promise<string> {
  const all = await Promise.all(COMMANDS.map((command) => command.load()));
  return [
    `## Common flags\n\n${block(flagLines(COMMON))}`,
    ...all.map(sectionOf),
    `## Chaos\n\n${block(CHAOS_NOTES)}`,
  ].join('\n\n');
}

function sectionOf({ name, args, summary, flags, notes }: Command): string {
  const own = flags.filter((flag) => !COMMON.includes(flag));
  const common = flags.filter((flag) => COMMON.includes(flag)).map((flag) => code(`--${flag.name}`));
  const text = withExamples(notes.join('\n').replace(CHAOS, ''), PORTICO).trim();
  return [
    `## ${name}\n\n${summary}.`,
    block([
      usageOf({ name, args }),
      ...(own.length === 0 ? [] : ['', ...flagLines(own)]),
      ...(text === '' ? [] : ['', text]),
    ]),
    ...(common.length === 0 ? [] : [`Common flags: ${common.join(', ')}.`]),
  ].join('\n\n');
}

const block = (lines: readonly string[]): string => `\`\`\`text\n${lines.join('\n')}\n\`\`\``;
