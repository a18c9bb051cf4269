import { callAt } from './call.ts';
import type { Ids } from './operations.ts';

type Thing = Readonly<Record<string, unknown>> & { readonly id: number };

/** Returns the first item that passes a test. Throws if there is none. */
async function some<T>(things: readonly T[], test: (thing: T) => Promise<boolean> | boolean): Promise<T> {
  for (const thing of things) if (await test(thing)) return thing;
  throw new Error('the reference server has no such thing');
}

/**
 * Returns ids from a seeded reference server. With them, every operation returns at least one item. The comment belongs
 * to alice.
 */
export async function referenceIds(url: string): Promise<Ids> {
  const get = async (path: string) =>
    (await callAt(url, `/services/v2${path}`)).json as unknown as Readonly<Record<string, unknown>>;
  const listOf = async (path: string) => ((await get(path))['list'] ?? []) as readonly Thing[];
  const shows = async (path: string) => (await listOf(path)).length > 0;
  const pages = await Promise.all([1, 2, 3, 4, 5].map((page) => listOf(`/question.json?pageSize=100&page=${page}`)));
  const questions = pages.flat();
  const idsIn = (question: Thing, name: string) => question[name] as readonly number[];
  const node = await some(
    questions,
    (one) => idsIn(one, 'attachments').length > 0 && shows(`/node/${one.id}/followers.json`),
  );
  const topics = questions.flatMap((one) => one['topics'] as readonly Thing[]);
  const topic = await some(topics, ({ id }) => shows(`/topic/${id}/followers.json`));
  const follower = await some(
    await listOf(`/topic/${topic.id}/followers.json`),
    (user) => (user['groups'] as readonly unknown[]).length > 0,
  );
  const answers = questions.flatMap((one) => idsIn(one, 'answers'));
  const comment = await callAt(url, `/services/v2/node/${node.id}/comment.json`, {
    user: 'alice',
    method: 'POST',
    body: { body: 'Mine.' },
  });
  const authors = questions.map((one) => (one['author'] as Thing).id);
  const job = await some(
    Array.from({ length: 30 }, (_, index) => index + 1),
    async (id) => (await get(`/jobs/gdpr/${id}.json`))['status'] === 'FINISHED',
  );
  return {
    job: String(job),
    node: String(node.id),
    issue: '10001',
    comment: String((comment.json as unknown as Thing).id),
    group: String((follower['groups'] as readonly Thing[])[0]?.id),
    topic: String(topic.id),
    user: String(await some(authors, (id) => shows(`/user/${id}/expertise.json`))),
    answer: String(await some(answers, (id) => shows(`/answer/${id}/comment.json`))),
  };
}
