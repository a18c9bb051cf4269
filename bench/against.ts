import { join } from 'node:path';
import type { Arguments } from './arguments.ts';
import { type Case, selectCases } from './cases.ts';
import { FULL, estimateSeconds } from './effort.ts';
import { formatNumber } from './report/format-number.ts';
import { combine, type Load } from './results.ts';
import type { Session } from './session.ts';
import { visitInTurns, type Visits } from './visit.ts';
import { addWorktree } from './worktree.ts';

/** The cases that are compared unless parts are selected. */
const COMPARED = new Set(['hit', 'miss', 'undocumented', 'passthrough', 'new-target']);

/**
 * Compares the sources of a git ref with those of the working tree, in five turns. Prints the ratios. Returns the exit
 * code.
 */
export async function compareWith(ref: string, { only }: Arguments, { effort, setting }: Session): Promise<number> {
  const worktree = addWorktree(ref, join(setting.folder, 'other'));
  process.once('exit', worktree.remove);
  try {
    const turns = FULL.maxTurns;
    const other = setting.casesOf({ checkout: worktree.folder });
    const compared = selectCases(only, setting.casesOf({})).filter(
      ({ id, peer }) => peer.label === 'Portico' && (only.length > 0 || COMPARED.has(id)),
    );
    const pairs = compared.flatMap((after): readonly Case[] => {
      const before = other.find(({ id }) => id === after.id) ?? after;
      return [
        { ...before, id: `${before.id}-before`, turns },
        { ...after, id: `${after.id}-after`, turns },
      ];
    });
    const whole = { ...effort, maxTurns: turns };
    const seconds = estimateSeconds(pairs, whole);
    setting.progress.expect(seconds);
    setting.progress.say(`this will take at most about ${formatNumber(seconds / 60)} minutes`);
    const measured = await visitInTurns(pairs, whole, setting);
    process.stdout.write(`\nbefore: ${ref} (${worktree.commit}); after: the working tree\n\n`);
    process.stdout.write(comparisonTable(compared, measured));
    return measured.failures.length > 0 ? 1 : 0;
  } finally {
    worktree.remove();
  }
}

/** Returns the table of CPU times per request before and after, and of their ratios. */
export function comparisonTable(cases: readonly Pick<Case, 'id'>[], measured: Visits): string {
  const cells = (id: string, load: Load) => {
    const cpuUs = (side: string) => combine(measured, load, [`${id}-${side}`], ([round]) => round?.cpuUs ?? 0)?.median;
    const ratio = combine(measured, load, [`${id}-after`, `${id}-before`], ([after, before]) => {
      return (after?.cpuUs ?? 0) / (before?.cpuUs ?? 0);
    });
    if (ratio === undefined) return ['', '', '', ''];
    const range = `${ratio.min.toFixed(3)} to ${ratio.max.toFixed(3)}`;
    return [...['before', 'after'].map((side) => formatNumber(cpuUs(side) ?? 0)), ratio.median.toFixed(3), range];
  };
  return [
    '| case | CPU µs before | after | after ÷ before | spread | busy neighbor: before | after | ratio | spread |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...cases.map(({ id }) => `| ${[id, ...cells(id, 'quiet'), ...cells(id, 'busy')].join(' | ')} |`),
    '',
  ].join('\n');
}
