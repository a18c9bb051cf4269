import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../../src/files/package-root.ts';
import { exampleAnswer } from '../../builders/example-answer.ts';
import { startFakeUpstream } from '../../builders/fake-upstream.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { runInProcess } from '../run-in-process.ts';

const readSchema = (name: string) =>
  JSON.parse(readFileSync(join(packageRoot, 'docs', name), 'utf8')) as Record<string, unknown>;
const ajv = new Ajv2020({ strict: false, allErrors: true });
const isDocument = ajv.compile(readSchema('cli.schema.json'));
const isReport = ajv.compile(readSchema('report.schema.json'));

/** Runs a command with `--format json`. Its output must match the schema. */
async function documentOf(...argv: string[]) {
  const { code, out, err } = await runInProcess([...argv, '--format', 'json']);
  const document = JSON.parse(out) as Record<string, unknown>;
  isDocument(document);
  expect(isDocument.errors ?? []).toEqual([]);
  return { code, err, document };
}

describe('--format json', () => {
  it('of plan lists the stages and the levels of each operation', async () => {
    const { code, document } = await documentOf('plan');
    expect([code, document['kind']]).toEqual([0, 'plan']);
    expect(document['operations']).toContainEqual(
      expect.objectContaining({
        operation: 'listQuestions',
        method: 'GET',
        path: '/services/v2/question.json',
        checks: expect.objectContaining({ authentication: 'enforce' }) as object,
        stages: expect.arrayContaining(['authorize', 'cache-page', 'forward']) as string[],
      }),
    );
  });

  it('of permissions lists the access of each role and account', async () => {
    const { code, document } = await documentOf('permissions');
    expect([code, document['kind']]).toEqual([0, 'permissions']);
    const [first] = document['operations'] as { access: unknown[] }[];
    expect(first?.access).toContainEqual(expect.objectContaining({ kind: 'account', name: 'alice' }));
  });

  it('of explain contains the request, the verdict and every step', async () => {
    const { code, document } = await documentOf('explain', '/services/v2/question.json?page=x', '--as', 'alice');
    expect(code).toBe(0);
    expect(document).toMatchObject({
      kind: 'explanation',
      request: { method: 'GET', target: '/services/v2/question.json?page=x', as: 'alice' },
      verdict: expect.stringMatching(/^400 invalid_parameter/) as string,
    });
    const names = (document['steps'] as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['request', 'caller', 'operation', 'plan', 'verdict']));
  });

  it('of check reports success, and configuration errors with exit code 1', async () => {
    expect(await documentOf('check')).toMatchObject({
      code: 0,
      document: { kind: 'check', ok: true, mode: 'strict', errors: [] },
    });
    const file = join(tempFolder(), 'portico.yaml');
    writeFileSync(file, 'mod: strict\n');
    const { code, err, document } = await documentOf('check', '--config', file);
    expect([code, document['ok']]).toEqual([1, false]);
    expect(document['errors']).toContainEqual(
      expect.objectContaining({ source: expect.stringContaining('portico.yaml:1') as string, pointer: '/mod' }),
    );
    expect(err).toContain('configuration error');
  });

  it('of a walk contains the report of its violations', async () => {
    const { url } = await startFakeUpstream(exampleAnswer);
    const argv = ['check', '--against', url, '--ledger', ':memory:', '--delay', '0', '--max-requests', '5'];
    const { code, document } = await documentOf(...argv);
    expect(document).toMatchObject({ kind: 'walk', ok: code === 0, walk: { requests: 5, ended: 'max-requests' } });
    isReport(document['report']);
    expect(isReport.errors ?? []).toEqual([]);
  });

  it('of a walk without a response says why it failed', async () => {
    const { code, document } = await documentOf('check', '--against', 'http://127.0.0.1:9', '--ledger', ':memory:');
    expect(code).toBe(1);
    expect(document).toMatchObject({
      kind: 'walk',
      ok: false,
      failures: [expect.stringContaining('does not respond')],
      report: null,
    });
  });

  it('rejects an unknown format with exit code 2', async () => {
    const { code, out, err } = await runInProcess(['plan', '--format', 'yaml']);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('--format yaml: must be one of text, json');
  });
});
