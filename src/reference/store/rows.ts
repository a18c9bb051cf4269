/** A row of `users`. */
export interface UserRow {
  readonly id: number;
  readonly username: string;
  readonly realname: string | null;
  readonly email: string;
  readonly password_hash: string;
  readonly created_at: number;
  readonly modified_at: number;
  readonly gold: number;
  readonly silver: number;
  readonly bronze: number;
  readonly reputation: number;
  readonly admin: number;
  readonly superuser: number;
  readonly moderator: number;
  readonly active: number;
  readonly suspended: number;
  readonly deactivated: number;
}

/** A row of `nodes`: question, answer, comment, idea, idea comment or article. */
export interface NodeRow {
  readonly id: number;
  readonly type: string;
  readonly space_id: number | null;
  readonly parent_id: number | null;
  readonly root_id: number;
  readonly author_id: number;
  readonly title: string | null;
  readonly slug: string | null;
  readonly body: string;
  readonly lang: string;
  readonly created_at: number;
  readonly last_active_at: number;
  readonly last_active_user_id: number;
  readonly last_edited_action: number;
  /** A JSON array as text, because revision ids may exceed 2^53. */
  readonly revision_ids: string;
  readonly marked: number;
  readonly wiki: number;
  readonly score: number;
  readonly up_votes: number;
  readonly down_votes: number;
  readonly views: number;
  readonly reports: number;
  readonly depth: number;
  readonly states: string;
  readonly visibility: string | null;
}

/** A row of `topics`. */
export interface TopicRow {
  readonly id: number;
  readonly name: string;
  readonly author_id: number;
  readonly parent_id: number | null;
  readonly created_at: number;
  readonly used_count: number;
}

/** A row of `actions`. */
export interface ActionRow {
  readonly id: number;
  readonly verb: string;
  readonly user_id: number;
  readonly node_id: number;
  readonly node_type: string;
  readonly ip: string;
  readonly acted_at: number;
  readonly extra: string | null;
  readonly private: number;
  readonly canceled_at: number | null;
  readonly canceled_by: number | null;
}

/** A row of `attachments`. */
export interface AttachmentRow {
  readonly id: number;
  readonly node_id: number;
  readonly filename: string;
  readonly mime_type: string;
  readonly content: Uint8Array;
  readonly created_at: number;
}

/** A row of `gdpr_jobs`. */
export interface GdprJobRow {
  readonly id: number;
  readonly file_id: number;
  readonly operations: string;
  readonly user_id: number;
  readonly due_at: number;
  readonly finished_at: number | null;
}
