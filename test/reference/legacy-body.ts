/**
 * A list in a body. Its type assumes that every item is present, because a test that reads a missing item fails anyway.
 */
export interface Items<Item> extends ReadonlyArray<Item> {
  readonly 0: Item;
  readonly 1: Item;
  find(predicate: (item: Item) => unknown): Item;
  find<Found extends Item>(
    predicate: (item: Item, index: number, all: readonly Item[]) => item is Found,
  ): Found | undefined;
}

/**
 * All fields that tests read from JSON bodies. They share one type, because only the test knows which fields to expect.
 */
export interface LegacyBody {
  readonly actionDate: string;
  readonly actions: Items<LegacyBody>;
  readonly activeRevisionId: number;
  readonly answerCount: number;
  readonly answers: Items<number>;
  readonly attachments: Items<LegacyBody>;
  readonly author: LegacyBody;
  readonly body: string;
  readonly canceled: boolean;
  readonly canceledDate: string;
  readonly commentIds: Items<number>;
  readonly containerIds: Items<number>;
  readonly content: string;
  readonly creationDate: number;
  readonly error: string;
  readonly errors: LegacyBody;
  readonly executions: Items<LegacyBody>;
  readonly executionURL: string;
  readonly active: boolean;
  readonly favoriteAction: LegacyBody;
  readonly favoriteCount: number;
  readonly fileId: number;
  readonly followerCount: number;
  readonly groups: Items<LegacyBody>;
  readonly id: number;
  readonly key: string;
  readonly lastActiveDate: number;
  readonly list: Items<LegacyBody>;
  readonly listCount: number;
  readonly message: string;
  readonly mimeType: string;
  readonly moreResults: number;
  readonly name: string;
  readonly node: LegacyBody;
  readonly originalParentId: number;
  readonly page: number;
  readonly pageCount: number;
  readonly pageSize: number;
  readonly parentId: null;
  readonly plug: string;
  readonly recipients: Items<LegacyBody>;
  readonly reputation: number;
  readonly result: LegacyBody;
  readonly revisionIds: Items<number>;
  readonly score: number;
  readonly size: number;
  readonly slug: string;
  readonly sort: string;
  readonly sorts: readonly string[];
  readonly status: string;
  readonly success: boolean;
  readonly superuser: boolean;
  readonly title: string;
  readonly token: string;
  readonly topics: Items<LegacyBody>;
  readonly totalCount: number;
  readonly type: string;
  readonly url: string;
  readonly usedCount: number;
  readonly user: LegacyBody;
  readonly userId: number;
  readonly username: string;
  readonly verb: string;
  readonly viewCount: number;
  readonly visibility: string | undefined;
  readonly wiki: boolean;
  readonly wikifyAction: LegacyBody;
}
