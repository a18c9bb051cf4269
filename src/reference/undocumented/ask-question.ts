import { demandCredential, demandPermissions } from '../access/demand.ts';
import { jsonAnswer } from '../answers/legacy-answer.ts';
import { plainError } from '../answers/legacy-errors.ts';
import { refuse } from '../answers/legacy-refusal.ts';
import type { LegacyRoute } from '../answers/legacy-route.ts';
import { toNode } from '../render/to-node.ts';
import { insertNode } from '../store/insert-node.ts';
import type { Sql } from '../store/sql.ts';

interface QuestionDraft {
  readonly title: string;
  readonly body: string;
  readonly topics: readonly string[];
  readonly spaceId: number | null;
}

function readQuestion(sql: Sql, value: unknown): QuestionDraft {
  const { title, body, topics, spaceId } = (typeof value === 'object' && value !== null ? value : {}) as Record<
    string,
    unknown
  >;
  if (typeof title !== 'string' || title.trim() === '') refuse(plainError(400, "The 'title' is missing."));
  const names = Array.isArray(topics) ? topics : typeof topics === 'string' ? topics.split(',') : [];
  const asked = typeof spaceId === 'number' || typeof spaceId === 'string' ? String(spaceId) : null;
  const text = 'SELECT id FROM spaces WHERE ?1 IS NULL OR CAST(id AS TEXT) = ?1 ORDER BY id';
  const space = sql.get<{ id: number }>(text, asked);
  if (space === undefined) refuse(plainError(400, "The provided 'space id' is/are invalid"));
  return { title, body: typeof body === 'string' ? body : '', topics: names.map(String), spaceId: space.id };
}

/** Asks a question: what a POST to the question list does. Topics that do not exist are left out. */
export const askQuestionRoute: LegacyRoute = {
  method: 'POST',
  path: '/services/v2/question.json',
  answer: ({ caller, body }, { sql, clock, url }) => {
    demandCredential(caller);
    demandPermissions(caller, 'Mark as favorite', 'View the questions list');
    const { topics, ...draft } = readQuestion(sql, body);
    const question = sql.transaction(() => {
      const node = insertNode(sql, { ...draft, type: 'question', parent: undefined, authorId: caller.id, at: clock() });
      topics.forEach((name, position) => {
        const text = 'INSERT INTO node_topics SELECT ?, ?, id FROM topics WHERE name = ?';
        sql.run(text, node.id, position, name.trim());
        sql.run('UPDATE topics SET used_count = used_count + 1 WHERE name = ?', name.trim());
      });
      return node;
    });
    const location = `${url}/services/v2/question/${question.id}.json`;
    return jsonAnswer(toNode(sql, question, caller), 201, { Location: location });
  },
};
