import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '..', '..');
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A pipeline as far as a machine runs it: what is set, the scripts in their order, and what is run in the end whatever happened. */
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
  // GitLab runs all lines of a script in one shell.
  return {
    variables: stringsOf(contract.variables),
    scripts: [contract.script.join('\n')],
    last: contract.after_script.join('\n'),
  };
}

const stringsOf = (values: Readonly<Record<string, string | number>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Runs a pipeline in a folder of its own, where `portico` is what this checkout holds. */
async function runPipeline(pipeline: Pipeline, { faults = '', accepted = [] as readonly string[] } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'portico-pipeline-'));
  folders.push(folder);
  writeFileSync(
    join(folder, 'portico'),
    `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, 'bin/portico.mjs')}" "$@"\n`,
  );
  chmodSync(join(folder, 'portico'), 0o755);
  const entries = accepted.map((fingerprint) => ({
    fingerprint,
    reason: 'known',
    owner: 'team q',
    expires: '2999-12-31',
  }));
  writeFileSync(join(folder, 'portico.baseline.yaml'), JSON.stringify({ accepted: entries }));
  const port = await freePort();
  const env = {
    ...pipeline.variables,
    PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}`,
    SERVER_PORT: String(port),
    SERVER_URL: `http://127.0.0.1:${port}`,
    SERVER_FLAGS: faults,
    CHECK_DELAY: '0',
    PORTICO_PASSWORD: 'admin',
    GITHUB_STEP_SUMMARY: join(folder, 'summary.md'),
  };
  const shell = async (script: string) => {
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
  const all = JSON.parse(readFileSync(join(folder, 'all.json'), 'utf8')) as {
    violations: { fingerprint: string; operation: string; at: string }[];
  };
  const wrote = ['contract.xml', 'contract.sarif', 'contract.html'].filter((name) =>
    existsSync(join(folder, 'reports', name)),
  );
  return { ...result, violations: all.violations, wrote };
}

const FAULT = '--fault missing-field:title@6';

describe.each([
  ['GitHub Actions', github()],
  ['GitLab', gitlab()],
])('the pipeline for %s', (_name, pipeline) => {
  it('passes while the server keeps to the contract', { timeout: 120_000 }, async () => {
    const { code, said, violations, wrote } = await runPipeline(pipeline);
    expect(said).toContain('Walked 11 of 12 safe operations');
    expect({ code, violations, wrote }).toEqual({
      code: 0,
      violations: [],
      wrote: ['contract.xml', 'contract.sarif', 'contract.html'],
    });
  });

  it('fails on a new violation, and passes once the baseline accepts it', { timeout: 240_000 }, async () => {
    const failed = await runPipeline(pipeline, { faults: FAULT });
    expect(failed.code).toBe(1);
    expect(failed.said).toContain('1 distinct violation not in the baseline (--fail-on new)');
    expect(failed.violations).toMatchObject([{ operation: 'listQuestions', at: '/list/*/title' }]);
    expect(failed.wrote).toEqual(['contract.xml', 'contract.sarif', 'contract.html']);
    const accepted = await runPipeline(pipeline, {
      faults: FAULT,
      accepted: failed.violations.map(({ fingerprint }) => fingerprint),
    });
    expect({ code: accepted.code, found: accepted.violations.length }).toEqual({ code: 0, found: 1 });
  });
});

it('both pipelines keep their reports whatever became of the job, and GitHub is only sent what is there', () => {
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
