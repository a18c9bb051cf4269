import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { delimiter, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { freePort } from '../../bench/free-port.ts';
import { PROGRAM } from '../../src/cli/commands.ts';
import { runProgram } from '../../src/cli/run-program.ts';
import { cleanUpAfterFile } from '../builders/clean-up.ts';
import { SAFE_OPERATIONS, WALKED_OPERATIONS } from '../builders/operations.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { processIoOf } from '../cli/process-io-of.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** The executable parts of a pipeline: its variables, its scripts in order, and the commands that always run last. */
interface Pipeline {
  readonly variables: Readonly<Record<string, string>>;
  readonly scripts: readonly string[];
  readonly last: string;
}

interface GithubStep {
  readonly name?: string;
  readonly run?: string;
  readonly if?: string;
}

function github(): Pipeline {
  const file = parse(readFileSync(join(ROOT, 'docs/examples/github-actions.yml'), 'utf8')) as {
    jobs: { contract: { env: Record<string, string | number>; steps: GithubStep[] } };
  };
  const { env, steps } = file.jobs.contract;
  const own = steps.filter(({ name, run }) => run !== undefined && name !== 'Install Portico');
  return {
    variables: stringsOf(env),
    scripts: own.filter((step) => step.if === undefined).map(({ run = '' }) => run),
    last: own
      .filter((step) => step.if === 'always()')
      .map(({ run = '' }) => run)
      .join('\n'),
  };
}

function gitlab(): Pipeline {
  const { contract } = parse(readFileSync(join(ROOT, 'docs/examples/gitlab-ci.yml'), 'utf8')) as {
    contract: { variables: Record<string, string>; script: string[]; after_script: string[] };
  };
  // GitLab runs all script lines in one shell.
  return {
    variables: stringsOf(contract.variables),
    scripts: [contract.script.join('\n')],
    last: contract.after_script.join('\n'),
  };
}

const stringsOf = (values: Readonly<Record<string, string | number>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/**
 * Creates a program called `portico` in a folder. Only `reference` starts a process, which runs in the background until
 * a signal ends it. All other commands run in this process, because starting Node for each would take up most of the
 * test's time.
 */
async function installPortico(folder: string, env: Readonly<Record<string, string>>): Promise<void> {
  let runs = 0;
  const server = createServer((request, response) => {
    const run = async () => {
      const argv = (await buffer(request)).toString().split('\0').slice(0, -1);
      const { io, text } = processIoOf(folder, { env });
      const code = await runProgram(PROGRAM, argv, io);
      const result = join(folder, `.run-${(runs += 1)}`);
      mkdirSync(result);
      for (const [name, content] of Object.entries({ ...text, code: String(code) }))
        writeFileSync(join(result, name), content);
      response.end(result);
    };
    void run().catch((error: unknown) => response.destroy(error as Error));
  });
  const port = await portOf(server);
  cleanUpAfterFile(() => server.close());
  const program = join(folder, 'portico');
  writeFileSync(
    program,
    `#!/usr/bin/env bash
set -e
if [ "$1" = reference ]; then exec "${process.execPath}" "${join(ROOT, 'bin/portico.mjs')}" "$@"; fi
result="$(printf '%s\\0' "$@" | curl -sS --fail --data-binary @- http://127.0.0.1:${port})"
cat "$result/out"
cat "$result/err" >&2
exit "$(cat "$result/code")"
`,
  );
  chmodSync(program, 0o755);
}

const baselineOf = (fingerprints: readonly string[]) =>
  JSON.stringify({
    accepted: fingerprints.map((fingerprint) => ({
      fingerprint,
      reason: 'known',
      owner: 'team q',
      expires: '2999-12-31',
    })),
  });

interface Step {
  readonly code: number | null;
  readonly said: string;
}

/** One run of a pipeline, in its own folder. */
interface Run extends Step {
  readonly violations: readonly { fingerprint: string; operation: string; category: string; at: string }[];
  /** The reports written by the run. */
  readonly wrote: readonly string[];
  /**
   * Repeats the last command, which determines the pipeline's result, with a baseline that accepts these violations.
   */
  decideAgain(accepted: readonly string[]): Promise<Step>;
}

async function runPipeline(pipeline: Pipeline, { faults = '' } = {}): Promise<Run> {
  const folder = tempFolder();
  const baseline = join(folder, 'portico.baseline.yaml');
  writeFileSync(baseline, baselineOf([]));
  const port = await freePort();
  const env = {
    ...pipeline.variables,
    PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}`,
    SERVER_PORT: String(port),
    SERVER_URL: `http://127.0.0.1:${port}`,
    // Without `--complete`, incomplete items would cause additional advisories.
    SERVER_FLAGS: `--complete ${faults}`,
    SERVER_RELEASE: 'one',
    CHECK_DELAY: '0',
    PORTICO_PASSWORD: 'admin',
    GITHUB_STEP_SUMMARY: join(folder, 'summary.md'),
  };
  await installPortico(folder, env);
  const shell = async (script: string): Promise<Step> => {
    const child = spawn('bash', ['-eo', 'pipefail', '-c', script], { cwd: folder, env });
    let said = '';
    child.stdout.on('data', (part) => (said += String(part)));
    child.stderr.on('data', (part) => (said += String(part)));
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    return { code, said };
  };
  const result = { code: 0 as number | null, said: '' };
  try {
    for (const script of pipeline.scripts) {
      const step = await shell(script);
      result.said += step.said;
      result.code = step.code;
      if (step.code !== 0) break;
    }
    const json = await shell('portico report --format json --output all.json');
    expect(json.code).toBe(0);
  } finally {
    expect((await shell(pipeline.last)).code).toBe(0);
  }
  const { violations } = JSON.parse(readFileSync(join(folder, 'all.json'), 'utf8')) as Pick<Run, 'violations'>;
  const wrote = ['contract.xml', 'contract.sarif', 'contract.html'].filter((name) =>
    existsSync(join(folder, 'reports', name)),
  );
  return {
    ...result,
    violations,
    wrote,
    decideAgain(accepted) {
      writeFileSync(baseline, baselineOf(accepted));
      return shell(pipeline.scripts.at(-1)?.split('\n').at(-1) ?? '');
    },
  };
}

describe.concurrent.each([
  ['GitHub Actions', github()],
  ['GitLab', gitlab()],
])('the pipeline for %s', (_name, pipeline) => {
  // The walk finds a violation and an advisory. An advisory never makes a pipeline fail. Both pipelines run at the same
  // time, because each waits for its server to start.
  it('fails on a new violation, and passes if only an advisory is not in the baseline', async () => {
    const failed = await runPipeline(pipeline, { faults: '--fault missing-field:type@6 --fault missing-field:slug@6' });
    expect(failed.said).toContain(`Walked ${WALKED_OPERATIONS.length} of ${SAFE_OPERATIONS.length} safe operations`);
    expect(failed.code).toBe(1);
    expect(failed.said).toContain('1 distinct violation not in the baseline (--fail-on new)');
    expect(failed.wrote).toEqual(['contract.xml', 'contract.sarif', 'contract.html']);
    const [violations, advisories] = [false, true].map((isAdvisory) =>
      failed.violations.filter(({ category }) => (category === 'advisory') === isAdvisory),
    );
    expect(violations).toMatchObject([{ operation: 'listQuestions', at: '/list/*/type' }]);
    expect(advisories).toMatchObject([{ operation: 'listQuestions', at: '/list/*/slug' }]);
    expect((await failed.decideAgain([])).code).toBe(1);
    expect((await failed.decideAgain(violations?.map(({ fingerprint }) => fingerprint) ?? [])).code).toBe(0);
  });
});

// test/gateway/release-drift.test.ts shows that this gate fails on a difference between two releases.
it('both pipelines keep the ledger of earlier runs and fail on a difference from the release before', () => {
  const texts = ['github-actions.yml', 'gitlab-ci.yml'].map((name) =>
    readFileSync(join(ROOT, 'docs/examples', name), 'utf8'),
  );
  for (const text of texts) expect(text).toMatch(/path(?:: |s:\n {6}- )reports\/ledger\.db/);
  for (const { scripts } of [github(), gitlab()]) {
    expect(scripts.join('\n')).toMatch(/check --against .* --release "\$SERVER_RELEASE"/);
    expect(scripts.at(-1)).toMatch(/report --release "\$SERVER_RELEASE" .*--fail-on new --fail-on release-drift$/m);
  }
});

it('both pipelines keep their reports whatever the result of the job, and GitHub uploads only existing ones', () => {
  const { contract } = parse(readFileSync(join(ROOT, 'docs/examples/gitlab-ci.yml'), 'utf8')) as {
    contract: { artifacts: { when: string; reports: { junit: string } } };
  };
  expect(contract.artifacts).toMatchObject({ when: 'always', reports: { junit: 'reports/contract.xml' } });
  const { permissions, jobs } = parse(readFileSync(join(ROOT, 'docs/examples/github-actions.yml'), 'utf8')) as {
    permissions: object;
    jobs: { contract: { steps: (GithubStep & { uses?: string })[] } };
  };
  expect(permissions).toEqual({ contents: 'read', actions: 'read', 'security-events': 'write' });
  const uploads = jobs.contract.steps.filter(({ uses = '' }) => /upload/.test(uses));
  expect(uploads.map((step) => step.if)).toEqual(['always()', "always() && hashFiles('reports/contract.sarif') != ''"]);
});
