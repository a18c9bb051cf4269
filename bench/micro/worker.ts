import { createFixture } from './fixture.ts';
import { type MicroEffort, measureStage } from './measure-stage.ts';
import { stagesOf } from './stages.ts';

// Measures all stages and prints a line for each. The arguments are a folder, the upstream's port and the effort.
const [folder = '', upstreamPort, effort = '{}'] = process.argv.slice(2);
for (const stage of stagesOf(await createFixture(folder, Number(upstreamPort)))) {
  const { median, min, max } = measureStage(stage, JSON.parse(effort) as MicroEffort);
  const cells = [median.toFixed(0).padStart(9), `${min.toFixed(0)} to ${max.toFixed(0)}`.padStart(20)];
  process.stdout.write(`${stage.paidBy.padEnd(6)} ${cells.join(' ')}  ${stage.name}\n`);
}
// Without an explicit exit, the gateway's timers would keep the process alive.
process.exit(0);
