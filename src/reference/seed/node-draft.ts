/** The private option of a seeded comment. */
export type PrivateVisibility = 'recipients' | 'originalPoster' | 'moderators';

/** A node before it is inserted. Ids follow the order of creation, so a parent's id is always lower. */
export interface NodeDraft {
  id: number;
  readonly type: 'question' | 'answer' | 'comment' | 'idea' | 'ideacomment' | 'kbentry';
  readonly at: number;
  readonly authorId: number;
  readonly parent: NodeDraft | undefined;
  readonly spaceId: number;
  readonly topics: readonly number[];
  readonly title: string | undefined;
  readonly body: string;
  readonly wiki: boolean;
  marked: boolean;
  readonly states: readonly string[];
  readonly recipients: readonly { readonly kind: 'user' | 'group'; readonly id: number }[];
  readonly visibility: PrivateVisibility | undefined;
  lastActiveAt: number;
  lastActiveUserId: number;
}

/** Returns the node at the top of a draft's thread. */
export function rootOf(draft: NodeDraft): NodeDraft {
  return draft.parent === undefined ? draft : rootOf(draft.parent);
}
