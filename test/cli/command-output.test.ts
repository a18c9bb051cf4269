import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { CHECK_NAMES } from '../../src/engine/model/checks.ts';
import { packageRoot } from '../../src/lib/package-root.ts';
import { explainLine, type ExplainStep } from '../../src/engine/pipeline/explain.ts';
import { exampleResponse } from '../builders/example-response.ts';
import { startFakeUpstream } from '../builders/fake-upstream.ts';
import { tempFolder } from '../builders/temp-folder.ts';
import { runInProcess } from './run-in-process.ts';

const readSchema = (name: string) =>
  JSON.parse(readFileSync(join(packageRoot, 'docs', name), 'utf8')) as Record<string, unknown>;
const ajv = new Ajv2020({ strict: false, allErrors: true });
const isDocument = ajv.compile(readSchema('cli.schema.json'));
const isReport = ajv.compile(readSchema('report.schema.json'));

/** Runs a command with `--format json` and returns its document. Expects the output to match the schema. */
async function documentOf(...argv: string[]) {
  const { code, out, err } = await runInProcess([...argv, '--format', 'json']);
  const document = JSON.parse(out) as Record<string, unknown>;
  isDocument(document);
  expect(isDocument.errors ?? []).toEqual([]);
  return { code, err, document };
}

/** Returns the value at a path such as `operations.0.checks`. The empty path stands for the whole document. */
const valueAt = (document: unknown, path: string): unknown =>
  path === ''
    ? document
    : path.split('.').reduce((value, key) => (value as Record<string, unknown> | undefined)?.[key], document);

const { url: walked } = await startFakeUpstream(exampleResponse);
/** Options that make the doctor run quickly. */
const QUICK = '--yes --idle 1 --delay 0 --concurrency-max 1';

/** The documents that the commands in the table print. Each command runs only once. */
const documents = new Map<string, ReturnType<typeof documentOf>>();

describe('--format json', () => {
  // Each row contains a command, a path in the command's document, and the names of all members of the object at that
  // path.
  it.each<[command: string, path: string, members: string]>([
    ['plan', '', 'version kind operations undocumented'],
    ['plan', 'operations.0', 'operation method path checks errors stages moved overrides'],
    ['plan', 'operations.0.checks', CHECK_NAMES.join(' ')],
    ['plan', 'undocumented', 'stages'],
    ['permissions', '', 'version kind operations'],
    ['permissions', 'operations.0', 'operation method path access'],
    ['permissions', 'operations.0.access.0', 'kind name access'],
    ['explain /services/v2/question.json', '', 'version kind request verdict steps'],
    ['explain /services/v2/question.json', 'request', 'method target as'],
    ['explain /services/v2/question.json', 'steps.0', 'name text'],
    ['check', '', 'version kind ok configuration operations mode warnings errors'],
    ['check --mode stric', 'errors.0', 'source pointer message suggestion'],
    [`doctor ${walked} ${QUICK}`, '', 'version kind url requests steps findings recommendations configuration'],
    [`doctor ${walked} ${QUICK}`, 'steps.0', 'name facts notDone'],
    [`doctor ${walked} ${QUICK}`, 'recommendations.0', 'key value reason'],
    ['ladder', '', 'version kind takenAt since contract rows'],
    [
      'ladder --operation listIdeas',
      'rows.0',
      'operation check configured effective clean wouldHaveRefused refused next why moved',
    ],
    ['audit --mode observe', '', 'version kind ok configuration mode findings'],
    ['audit --upstream http://qa.example.org', 'findings.0', 'rule severity key source found risk fix'],
    [`check --against ${walked} --ledger :memory: --max-requests 5`, '', 'version kind ok failures walk report'],
    [`check --against ${walked} --ledger :memory: --max-requests 5`, 'walk', 'requests ended walked notWalked'],
    [`check --against ${walked} --ledger :memory: --max-requests 5`, 'walk.walked.0', 'operation requests statuses'],
    [`check --against ${walked} --ledger :memory: --max-requests 5`, 'walk.notWalked.0', 'operation missing'],
  ])('of %s contains at "%s" the members %s', async (command, path, members) => {
    const output = documents.get(command) ?? documentOf(...command.split(' '));
    documents.set(command, output);
    const { document } = await output;
    expect(Object.keys(valueAt(document, path) ?? {}).toSorted()).toEqual(members.split(' ').toSorted());
  });

  it('has a schema that requires every member except a suggestion', () => {
    const optional: string[] = [];
    const visit = (schema: unknown): void => {
      if (typeof schema !== 'object' || schema === null) return;
      const { properties = {}, required = [] } = schema as { properties?: object; required?: unknown };
      if (Array.isArray(required)) optional.push(...Object.keys(properties).filter((name) => !required.includes(name)));
      Object.values(schema).forEach(visit);
    };
    visit(readSchema('cli.schema.json'));
    expect(optional).toEqual(['suggestion']);
  });

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

  it('of explain contains the same steps as the text', async () => {
    const argv = ['explain', '/services/v2/question.json?page=2', '--as', 'alice'];
    const { document } = await documentOf(...argv);
    const { out } = await runInProcess(argv);
    expect((document['steps'] as ExplainStep[]).map(explainLine)).toEqual(out.trimEnd().split('\n'));
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
    const { url } = await startFakeUpstream(exampleResponse);
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
