import type { SeededRandom } from '../../lib/seeded-random.ts';
import type { Sql } from '../store/sql.ts';
import type { NodeDraft } from './node-draft.ts';

const FILES = [
  ['server.log', 'text/plain', 'WARN  queue is full, waiting'],
  ['settings.json', 'application/json', '{"cache":true,"poolSize":20}'],
  ['screenshot.svg', 'image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"></svg>'],
  ['users.csv', 'text/csv', 'username\njana.cerny\n'],
] as const;

/** Gives some nodes of every kind one or two attachments. */
export function seedAttachments(sql: Sql, random: SeededRandom, nodes: readonly NodeDraft[]): void {
  let id = 0;
  for (const node of nodes) {
    if (!random.chance(node.type === 'comment' ? 0.02 : 0.08)) continue;
    for (const [filename, mimeType, text] of random.sample(FILES, random.integer(1, 2))) {
      id += 1;
      const content = Buffer.from(`${text}\n`.repeat(mimeType === 'text/plain' ? random.integer(1, 40) : 1));
      sql.run('INSERT INTO attachments VALUES (?, ?, ?, ?, ?, ?)', id, node.id, filename, mimeType, content, node.at);
    }
  }
}
