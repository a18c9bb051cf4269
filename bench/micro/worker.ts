import { createFixture } from './fixture.ts';
import { type MicroEffort, measureStage, type StageCost } from './measure-stage.ts';
import { STAGES } from './stages/all.ts';

/** The task of the process that runs the micro-benchmarks. */
export interface MicroTask {
  readonly folder: string;
  readonly upstreamPort: number;
  readonly effort: MicroEffort;
}

/** One line in the output of the micro-benchmark process. */
export interface MicroLine extends StageCost {
  readonly name: string;
}

const { folder, upstreamPort, effort } = JSON.parse(process.argv[2] ?? '{}') as MicroTask;
const fixture = await createFixture(folder, upstreamPort);
for (const stage of STAGES) {
  const line: MicroLine = { name: stage.name, ...measureStage(stage.prepare(fixture), effort) };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
// Without an explicit exit, the gateway's timers would keep the process alive.
process.exit(0);
