import { writeFileSync } from 'node:fs';
import { createProgress } from '../../bench/progress.ts';
import { readCommandLine, wrongUsage } from '../command-line.ts';
import { grouped, type ProofContext } from './proof.ts';
import { PROOFS } from './rows.ts';
import { runRow } from './run-row.ts';
import { type ProvenRow, tableOf, writePage } from './trust-page.ts';

const HELP = `Tests everything that docs/trust.md states, and prints a table of the results.

Usage: npm run prove [-- FLAGS]

  --only ROW           Only this row. May be repeated.
  --soak-minutes N     Duration of the soak; 5 by default.
  --load-seconds N     Duration of each of the other loads; 12 by default.
  --out FILE           File for the table in Markdown.
  --write              Replace the table in docs/trust.md.
  --list               List the rows.
  --help               Show this help.

The exit code is 0 if every row is green, 1 if not, and 2 for a wrong command line.`;

const { values } = readCommandLine(HELP, {
  only: { type: 'string', multiple: true },
  'soak-minutes': { type: 'string', default: '5' },
  'load-seconds': { type: 'string', default: '12' },
  out: { type: 'string' },
  write: { type: 'boolean', default: false },
  list: { type: 'boolean', default: false },
});

function positive(flag: string, text: string): number {
  const value = Number(text);
  return value > 0 && Number.isFinite(value) ? value : wrongUsage(`${flag} must be a positive number`);
}

async function runAll(): Promise<readonly ProvenRow[]> {
  const chosen = PROOFS.filter(({ id }) => values.only === undefined || values.only.includes(id));
  const progress = createProgress(Date.now());
  const context: ProofContext = {
    soakSeconds: Math.max(1, Math.round(positive('--soak-minutes', values['soak-minutes']) * 60)),
    loadSeconds: positive('--load-seconds', values['load-seconds']),
    tick: (text) => progress.tick(`    ${text}`),
  };
  const rows: ProvenRow[] = [];
  for (const [index, proof] of chosen.entries()) {
    progress.say(`row ${index + 1} of ${chosen.length}: ${proof.id}`);
    const result = await runRow(proof, context);
    progress.say(
      `    ${result.faults.length === 0 ? 'green' : 'RED'}, ${grouped(result.cases)} cases. ${result.figures}`,
    );
    for (const fault of result.faults) progress.say(`    ${fault}`);
    rows.push({ proof, result });
  }
  return rows;
}

// A scenario's processes must end when this process ends.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

if (values.list) for (const { id, holds } of PROOFS) console.log(`${id.padEnd(20)} ${holds}`);
else {
  const unknown = values.only?.filter((id) => !PROOFS.some((proof) => proof.id === id)) ?? [];
  if (unknown.length > 0) wrongUsage(`There is no row ${unknown.join(', ')} (--list shows all rows)`);
  if (values.write && values.only !== undefined)
    wrongUsage('--write needs all rows, so it cannot be combined with --only');
  const startedAt = Date.now();
  const rows = await runAll();
  const table = tableOf(rows);
  console.log(table);
  if (values.out !== undefined) writeFileSync(values.out, `${table}\n`);
  if (values.write) writePage(rows, (Date.now() - startedAt) / 1000);
  process.exit(rows.every(({ result }) => result !== undefined && result.faults.length === 0) ? 0 : 1);
}
