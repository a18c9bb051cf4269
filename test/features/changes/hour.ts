import { expect } from 'vitest';
import { createSeededRandom } from '../../../src/lib/seeded-random.ts';
import { recordAction } from '../../../src/reference/operations/actions.ts';
import { type ReferenceServer, startReferenceServer } from '../../../src/reference/start-reference-server.ts';
import { addNode, insertNode } from '../../../src/reference/store/nodes.ts';
import { type NodeRow, openSql } from '../../../src/reference/store/sql.ts';
import { cleanUpAfterTest } from '../../builders/clean-up.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { createTestClock } from '../../builders/test-clock.ts';
import { join } from 'node:path';
import type { StreamMessage } from './open-stream.ts';

/** What happened to a question. */
interface ToldQuestion {
  readonly isNew: boolean;
  readonly lastActive: number;
}

/** An hour of random writes on the reference server, and what they should tell subscribers. */
export interface Hour {
  readonly reference: ReferenceServer;
  /** Makes a random write, six seconds after the one before. */
  readonly write: () => void;
  readonly actions: readonly { readonly id: number; readonly node: number }[];
  readonly questions: ReadonlyMap<number, ToldQuestion>;
  /** Returns the number of answers of a question. */
  answersOf(question: number): number;
}

/** Starts a reference server whose content changes with each call of `write`. */
export async function startHour(seed: number): Promise<Hour> {
  const clock = createTestClock();
  const db = join(tempFolder(), 'reference.db');
  const reference = await startReferenceServer({ db, clock, seed });
  cleanUpAfterTest(() => reference.close());
  const sql = openSql(db);
  cleanUpAfterTest(() => sql.close());
  const random = createSeededRandom(seed);
  const nodes = [...sql.all<NodeRow>("SELECT * FROM nodes WHERE type IN ('question', 'answer', 'idea') LIMIT 60")];
  const actions: { readonly id: number; readonly node: number }[] = [];
  const questions = new Map<number, ToldQuestion>();
  const act = (verb: string, node: NodeRow, at: number) => {
    const { id } = recordAction(sql, verb, 1, node, at);
    // Private actions are told to nobody.
    if (node.visibility === null) actions.push({ id, node: node.id });
  };
  const touch = (root: number, at: number, isNew = false) => {
    const isQuestion = sql.get("SELECT 1 FROM nodes WHERE id = ? AND type = 'question'", root) !== undefined;
    if (isQuestion) questions.set(root, { isNew: isNew || questions.get(root)?.isNew === true, lastActive: at });
  };
  const write = () => {
    clock.advance(6);
    const at = clock();
    const common = { authorId: 1, at };
    sql.transaction(() => {
      const dice = random.integer(0, 9);
      if (dice < 2) {
        const draft = { ...common, parent: undefined, spaceId: 1, title: `Title ${at}`, body: 'Body' };
        const node = insertNode(sql, { ...draft, type: dice === 0 ? 'question' : 'idea' });
        nodes.push(node);
        touch(node.id, at, true);
        act('suggested', node, at);
        return;
      }
      const parent = random.pick(nodes);
      const type =
        parent.type === 'idea' ? 'ideacomment' : dice < 4 && parent.type === 'question' ? 'answer' : 'comment';
      const isPrivate = dice === 9;
      const added = addNode(sql, { ...common, type, parent, body: 'Text', showsActivity: !isPrivate });
      if (isPrivate) sql.run("UPDATE nodes SET visibility = 'moderators' WHERE id = ?", added.id);
      else touch(parent.root_id, at);
      act('commented', { ...added, visibility: isPrivate ? 'moderators' : null }, at);
    });
  };
  return {
    reference,
    write,
    actions,
    questions,
    answersOf: (question) =>
      Number(
        sql.get<{ count: number }>(
          "SELECT count(*) AS count FROM nodes WHERE parent_id = ? AND type = 'answer'",
          question,
        )?.count,
      ),
  };
}

const kindsOf = (messages: readonly StreamMessage[], kind: string) => messages.filter(({ event }) => event === kind);

/** Returns the actions of which nobody was told yet, for messages of failures. */
export function missingActions(messages: readonly StreamMessage[], { actions }: Pick<Hour, 'actions'>) {
  const told = new Set(kindsOf(messages, 'action.created').map(({ data }) => Number(data.data['id'])));
  return actions.filter(({ id }) => !told.has(id));
}

/** Checks that events tell exactly what has happened, each once and in the order of each node. */
export function expectAll(messages: readonly StreamMessage[], { actions, questions, answersOf }: Hour): void {
  const ids = messages.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const told = kindsOf(messages, 'action.created').map(({ data }) => Number(data.data['id']));
  expect(told.toSorted((a, b) => a - b)).toEqual(actions.map(({ id }) => id).toSorted((a, b) => a - b));
  const byNode = Map.groupBy(messages, ({ data: { list, target } }) => `${list} ${target.type} ${target.id}`);
  for (const [key, own] of byNode) {
    const values = own.map(({ event, data }) =>
      Number(data.data[event === 'action.created' ? 'id' : 'lastActiveDate']),
    );
    expect([key, values]).toEqual([key, values.toSorted((a, b) => a - b)]);
  }
  const ofQuestions = messages.filter(({ data }) => data.list === 'listQuestions');
  const byQuestion = Map.groupBy(ofQuestions, ({ data }) => Number(data.target.id));
  expect(new Set(byQuestion.keys())).toEqual(new Set(questions.keys()));
  for (const [id, { isNew, lastActive }] of questions) {
    const own = byQuestion.get(id) ?? [];
    expect(own.at(-1)?.data.data).toMatchObject({ lastActiveDate: lastActive, answerCount: answersOf(id) });
    expect(kindsOf(own, 'question.created')).toHaveLength(isNew ? 1 : 0);
    // The growth of the number of answers is told by events of its own, or by the one about the new question.
    const counts = own.map(({ data }) => Number(data.data['answerCount']));
    const grown = own.filter((_, at) => at > 0 && (counts[at] ?? 0) > (counts[at - 1] ?? 0));
    expect(grown.map(({ event }) => event)).toEqual(grown.map(() => 'question.answered'));
  }
}
