import type { LegacyRoute } from '../answers/legacy-route.ts';
import { htmlErrorPage } from '../answers/html-error-page.ts';
import { findNode } from '../store/find-node.ts';
import type { AttachmentRow } from '../store/rows.ts';

/** The bytes of an attachment, at the address that the node shows. */
export const attachmentContentRoute: LegacyRoute = {
  method: 'GET',
  path: '/storage/attachments/:name',
  answer: ({ caller, param }, { sql }) => {
    const id = /^(\d{1,15})-/.exec(param('name'))?.[1];
    const row =
      id === undefined ? undefined : sql.get<AttachmentRow>('SELECT * FROM attachments WHERE id = ?', Number(id));
    if (row === undefined) return htmlErrorPage(404, 'No such attachment');
    findNode(sql, row.node_id, caller);
    return { status: 200, headers: {}, payload: { kind: 'bytes', mimeType: row.mime_type, bytes: row.content } };
  },
};
