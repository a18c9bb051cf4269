/** A role: the permissions it holds beside those of the roles it inherits. */
export interface Role {
  readonly inherits: readonly string[];
  readonly permissions: readonly string[];
}

/** An account of the roles file: what a verified name holds. */
export interface Account {
  readonly name: string;
  readonly roles: readonly string[];
  readonly groups: readonly string[];
  readonly flags: readonly string[];
  /** True for the public accounts that only the embedded upstream may know. */
  readonly demo: boolean;
  /** PHC text of an argon2id hash; needed by the verifier `file` only. */
  readonly passwordHash: string | undefined;
}

/** The roles file, read and checked. */
export interface RolesFile {
  /** Where it was read from, for faults. */
  readonly source: string;
  /** `delegate`, `deny` or the name of a role; undefined leaves it to the verifier. */
  readonly unmapped: string | undefined;
  readonly roles: ReadonlyMap<string, Role>;
  readonly accounts: readonly Account[];
}

/** The role that callers without a credential hold. */
export const ANONYMOUS_ROLE = 'anonymous';

/** The flag that grants every permission, and no group membership. */
export const SUPERUSER_FLAG = 'superuser';
