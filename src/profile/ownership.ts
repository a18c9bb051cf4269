import type { FindOwner, ItemFacts } from '../engine/contract/api-profile.ts';
import { valueAt } from '../lib/json-pointer.ts';

/** Returns whose a node or a comment is (docs/rules.md §3). */
export const findOwner: FindOwner = ({ nodeId, commentId }, lookUp) => {
  if (commentId !== undefined && lookUp !== undefined) return ownerOfComment(commentId, lookUp);
  const id = nodeId ?? commentId;
  return id === undefined ? { kind: 'unknown' } : { kind: 'author of', id };
};

async function ownerOfComment(id: string, lookUp: NonNullable<Parameters<FindOwner>[1]>) {
  const comment = await lookUp(`/services/v2/comment/${id}.json`);
  // A community wiki can be edited by users other than its author (docs/rules.md §3).
  if (valueAt(comment, '/wiki') === true) return { kind: 'everybody' } as const;
  const name = valueAt(comment, '/author/username');
  return typeof name === 'string' ? ({ kind: 'author', name } as const) : ({ kind: 'unknown' } as const);
}

/** The nodes in responses, and their authors. */
export const nodes: ItemFacts = {
  kind: 'node',
  // An action contains the node that it concerns.
  idOf: (itemsAt) => (itemsAt === 'actions' ? ['node', 'id'] : ['id']),
  authorOf(item) {
    // The items may also be users or topics, which have no relevant author. Nodes are recognized by their revision.
    if (item['activeRevisionId'] === undefined) return undefined;
    const { id, author } = item;
    const name = typeof author === 'object' && author !== null && 'username' in author ? author.username : undefined;
    const exact = typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id));
    return exact && typeof name === 'string' ? [String(id), name] : undefined;
  },
  authorAt: ['/activeRevisionId', '/author/username'],
};
