import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FEATURES } from '../../src/features.ts';
import { PROFILE_FEATURES } from '../../src/profile/profile.ts';
import { finished, startPortico, untilSays } from '../cli/run-portico.ts';
import { cleanUpAfterTest } from '../builders/clean-up.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const list = readFileSync(join(root, 'src', 'features.ts'), 'utf8');
const COPIED = ['src', 'schemas', 'config', 'bin', 'package.json', 'tsconfig.json', 'tsconfig.build.json'];

/** The folder of each feature, by the feature's name in the list. */
const folders = [...list.matchAll(/^import \{ (\w+) \} from '\.\/features\/([\w-]+)\//gm)].map(
  ([, name = '', folder = '']) => [name, folder] as const,
);

/** A copy of what Portico needs to be checked and started, from which one feature at a time can be taken out. */
class Copy {
  readonly folder = mkdtempSync(join(tmpdir(), 'portico-take-out-'));
  readonly #taken = join(this.folder, 'taken');

  constructor() {
    for (const part of COPIED) cpSync(join(root, part), join(this.folder, part), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(this.folder, 'node_modules'));
  }

  /** Checks the types of everything, so that later checks need not repeat what a feature's absence leaves as it is. */
  checkAll = () => this.#check('whole.tsbuildinfo');

  /** Checks the types of what differs from the whole copy. */
  async check(): Promise<void> {
    cpSync(join(this.folder, 'whole.tsbuildinfo'), join(this.folder, 'part.tsbuildinfo'));
    await this.#check('part.tsbuildinfo');
  }

  async #check(known: string): Promise<void> {
    const compiler = join(root, 'node_modules', '.bin', 'tsc');
    // One thread takes half of the processor time that several take.
    const options = ['--noEmit', '--singleThreaded', '--project', 'tsconfig.build.json'];
    await run(compiler, [...options, '--incremental', '--tsBuildInfoFile', known], { cwd: this.folder });
  }

  /** Takes out the folder and the line of a feature. Returns a function that puts them back. */
  takeOut(name: string, folder: string): () => void {
    const path = join(this.folder, 'src', 'features', folder);
    const others = folders.flatMap(([other]) => (other === name ? [] : [other]));
    const without = list
      .replace(new RegExp(`^.*/features/${folder}/.*\n`, 'm'), '')
      .replace(
        /(?<=^const list = \[\s*\.\.\.PROFILE_FEATURES)[^\]]*(?=\])/m,
        others.map((other) => `, ${other}`).join(''),
      );
    renameSync(path, this.#taken);
    writeFileSync(join(this.folder, 'src', 'features.ts'), without);
    return () => {
      renameSync(this.#taken, path);
      writeFileSync(join(this.folder, 'src', 'features.ts'), list);
    };
  }
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
  let copy: Copy;

  beforeAll(async () => {
    copy = new Copy();
    whole = await walk(copy.folder);
    await copy.checkAll();
  });

  afterAll(() => rmSync(copy.folder, { recursive: true }));

  it('has a folder of its own and a line in the list', () => {
    expect(folders).toHaveLength(FEATURES.length - PROFILE_FEATURES.length);
    expect(whole[0]).toMatchObject({ status: 200 });
  });

  it.each(folders)('can be taken out with its folder and its line: %s', async (name, folder) => {
    const putBack = copy.takeOut(name, folder);
    try {
      await copy.check();
      expect(await walk(copy.folder)).toEqual(whole);
    } finally {
      putBack();
    }
  });
});
