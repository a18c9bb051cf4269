import { execFile } from 'node:child_process';
import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { FEATURES } from '../../src/features.ts';
import { PROFILE_FEATURES } from '../../src/profile.ts';
import { finished, startPortico, untilSays } from '../cli/run-portico.ts';
import { cleanUpAfterTest } from '../builders/clean-up.ts';
import { tempFolder } from '../builders/temp-folder.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const list = readFileSync(join(root, 'src', 'features.ts'), 'utf8');
const COPIED = ['src', 'schemas', 'config', 'bin', 'package.json', 'tsconfig.json', 'tsconfig.build.json'];

/** The folder of each feature, by the feature's name in the list. */
const folders = [...list.matchAll(/^import \{ (\w+) \} from '\.\/features\/([\w-]+)\//gm)].map(
  ([, name = '', folder = '']) => [name, folder] as const,
);

/** Copies what Portico needs to be checked and started, without the folder and the line of a feature. */
function copyWithout(name: string, folder: string): string {
  const copy = tempFolder();
  for (const part of COPIED) cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  rmSync(join(copy, 'src', 'features', folder), { recursive: true });
  const others = folders.flatMap(([other]) => (other === name ? [] : [other]));
  const without = list
    .replace(new RegExp(`^.*/features/${folder}/.*\n`, 'm'), '')
    .replace(
      /(?<=^const list = \[\s*\.\.\.PROFILE_FEATURES)[^\]]*(?=\])/m,
      others.map((other) => `, ${other}`).join(''),
    );
  writeFileSync(join(copy, 'src', 'features.ts'), without);
  return copy;
}

/** Starts the program of a checkout with the reference server, and returns its responses to a walk of safe requests. */
async function walk(checkout: string): Promise<readonly unknown[]> {
  const env = { PORT: '0', ADMIN_PORT: '0', PORTICO_DB: ':memory:' };
  const child = startPortico(['serve'], env, join(checkout, 'bin', 'portico.mjs'));
  cleanUpAfterTest(() => child.kill('SIGKILL'));
  child.stdout.resume();
  const ended = finished(child);
  const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(await untilSays(child, /admin +http:\S+/)) ?? [];
  const headers = { authorization: `Basic ${btoa('admin:admin')}`, accept: 'application/json' };
  const get = async (path: string) => {
    const response = await fetch(`${url}/services/v2/${path}`, { headers });
    return { path, status: response.status, body: (await response.json()) as { list?: { id: number }[] } };
  };
  const questions = await get('question.json?pageSize=5&sort=newest');
  const [question] = questions.body.list ?? [];
  const paths = [
    'question.json?page=2&includeOnly=id,title',
    'idea.json',
    'article.json',
    'action.json',
    'group/1/user.json',
    `node/${question?.id}/comment.json`,
    `node/${question?.id}/followers.json`,
    'jobs/gdpr/abc.json',
    'comment/abc.json',
    'question.json?pageSize=0',
  ];
  const responses = [questions, ...(await Promise.all(paths.map(get)))];
  child.kill('SIGTERM');
  expect((await ended).code).toBe(0);
  // The id of a request differs each time.
  for (const { body } of responses) Object.assign(body, { requestId: undefined });
  return responses;
}

describe('every feature', () => {
  let whole: readonly unknown[];

  beforeAll(async () => {
    whole = await walk(root);
  });

  it('has a folder of its own and a line in the list', () => {
    expect(folders).toHaveLength(FEATURES.length - PROFILE_FEATURES.length);
    expect(whole[0]).toMatchObject({ status: 200 });
  });

  it.each(folders)('can be taken out with its folder and its line: %s', async (name, folder) => {
    const copy = copyWithout(name, folder);
    await run(join(root, 'node_modules', '.bin', 'tsc'), ['--noEmit', '--project', 'tsconfig.build.json'], {
      cwd: copy,
    });
    expect(await walk(copy)).toEqual(whole);
  });
});
