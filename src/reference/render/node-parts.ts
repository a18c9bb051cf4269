import type { Caller } from '../http/caller.ts';
import type { AttachmentRow, NodeRow, Sql } from '../store/sql.ts';
import { toFormattedDate } from './text.ts';
import { visibleNodes } from './visible-nodes.ts';

const COMMENT_TYPES: ReadonlySet<string> = new Set(['comment', 'ideacomment']);

/** Returns true if a node of this type is a comment. */
export function isComment(type: string): boolean {
  return COMMENT_TYPES.has(type);
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Returns a stored body as HTML. The stored form is either HTML or plain text. */
export function bodyAsHtml(body: string): string {
  return body.startsWith('<') ? body : `<p>${escapeHtml(body)}</p>`;
}

/** Renders a node's attachments. Their fields are our choice, because the specification does not show them. */
export function attachmentsOf(sql: Sql, nodeId: number): Record<string, unknown>[] {
  const rows = sql.all<AttachmentRow>('SELECT * FROM attachments WHERE node_id = ? ORDER BY id', nodeId);
  return rows.map((row) => ({
    id: row.id,
    name: row.filename,
    size: row.content.byteLength,
    mimeType: row.mime_type,
    creationDate: row.created_at,
    creationDateFormatted: toFormattedDate(row.created_at),
    url: `/storage/attachments/${row.id}-${encodeURIComponent(row.filename)}`,
  }));
}

/** Returns the ids of the children that the caller may see, grouped by kind, oldest first. */
export function childrenOf(
  sql: Sql,
  nodeId: number,
  caller: Caller,
): { all: number[]; comments: number[]; answers: number[] } {
  const visible = visibleNodes(caller);
  const rows = sql.all<{ id: number; type: string }>(
    `SELECT n.id, n.type FROM nodes n WHERE n.parent_id = ? AND ${visible.text} ORDER BY n.id`,
    nodeId,
    ...visible.values,
  );
  return {
    all: rows.map(({ id }) => id),
    comments: rows.filter(({ type }) => isComment(type)).map(({ id }) => id),
    answers: rows.filter(({ type }) => type === 'answer').map(({ id }) => id),
  };
}

/** Returns the fields about edits and last activity, which all node types share. */
export function historyOf(node: NodeRow): Record<string, unknown> {
  const revisionIds = rawIntegers(node.revision_ids);
  return {
    lastEditedAction: node.last_edited_action,
    activeRevisionId: revisionIds.at(-1),
    revisionIds,
    lastActiveUserId: node.last_active_user_id,
    lastActiveDate: node.last_active_at,
    originalParentId: node.parent_id,
  };
}

interface RawJson {
  rawJSON(text: string): unknown;
}

/** Returns a value that is serialized as the given JSON text, so that integers beyond 2^53 keep all their digits. */
export function rawJson(text: string): unknown {
  return (JSON as unknown as RawJson).rawJSON(text);
}

/** Returns the elements of a flat JSON array of integers as raw values. */
function rawIntegers(arrayText: string): unknown[] {
  return (arrayText.match(/\d+/g) ?? []).map(rawJson);
}
