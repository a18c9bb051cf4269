import type { Sql } from '../store/sql.ts';

/** A recipient of a private comment. */
export interface Recipient {
  readonly id: number;
  readonly name: string;
  readonly type: 'group' | 'user';
}

const RECIPIENTS = `
  SELECT r.recipient_id AS id, g.name AS name, 'group' AS type FROM recipients r JOIN groups g ON g.id = r.recipient_id
  WHERE r.node_id = ?1 AND r.kind = 'group'
  UNION ALL
  SELECT r.recipient_id AS id, u.username AS name, 'user' AS type FROM recipients r JOIN users u ON u.id = r.recipient_id
  WHERE r.node_id = ?1 AND r.kind = 'user'
  ORDER BY type, id`;

/** The recipients of a private comment, groups first. */
export function recipientsOf(sql: Sql, nodeId: number): Recipient[] {
  return sql.all<Recipient>(RECIPIENTS, nodeId).map(({ id, name, type }) => ({ id, name, type }));
}
