import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killAll } from './process-tree.ts';
import { createProgress } from './progress.ts';
import { scenarioTable } from './report/scenario-table.ts';
import { type ScenarioResult, runScenario } from './run-scenario.ts';
import { hitScenarios } from './scenarios/hit.ts';
import { missScenarios } from './scenarios/miss.ts';
import { startUpstream } from './start-upstream.ts';

/** Runs the benchmark; answers the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  const rounds = args.includes('--quick') ? { count: 3, seconds: 0.4 } : { count: 5, seconds: 2 };
  const folder = mkdtempSync(join(tmpdir(), 'portico-bench-'));
  const out = join(import.meta.dirname, 'out');
  const progress = createProgress();
  try {
    const upstream = await startUpstream(folder);
    const results: ScenarioResult[] = [];
    for (const scenario of [...hitScenarios(rounds), ...missScenarios(rounds)])
      results.push(await runScenario(scenario, { folder, upstream, progress, missing: new Map() }));
    mkdirSync(out, { recursive: true });
    const markdown = results.map(scenarioTable).join('\n');
    writeFileSync(join(out, 'RESULTS.md'), markdown);
    process.stdout.write(markdown);
    return 0;
  } finally {
    killAll();
    rmSync(folder, { recursive: true, force: true });
  }
}
