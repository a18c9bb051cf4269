/** What the rules that no schema can say come to, by their names in the contract; docs/contract.md has the same table. */
export const RULE_TEXTS: Readonly<Record<string, string>> = {
  'list-count': '`listCount` is the length of `list`.',
  'recipients-visibility': '`recipients` only with the visibility `recipients`.',
  'executions-when-finished': '`executions` exactly when the job is `FINISHED`.',
  'canceled-fields': 'A canceled action has `canceledByUser` and `canceledDate`.',
  'space-filter': "With `spaceId`, every item's `containerIds` hold it.",
  'unfavorite-result': 'The action is canceled and its verb is `favorited`.',
  'unwikify-result': 'The action is canceled and its verb is `wikified`.',
  'action-page-size': 'At most 20 actions when no `pageSize` was asked for.',
  'newest-first': 'Newest first when no `sort` was asked for.',
  'only-kbentry': 'Every item is a `kbentry`.',
  'gdpr-csv': 'The body holds CSV: the allowed columns, and at least one filled cell in each row.',
  'comment-visibility': 'Visibility and recipients fit together, to the parent, and to what the caller may use.',
};
