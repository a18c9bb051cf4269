/** The columns that an upload may have. */
const UPLOAD_COLUMNS = ['email', 'userId', 'username'] as const;

const FORMS: readonly (readonly string[])[] = [
  ['email'],
  ['userId'],
  ['username'],
  ['userId', 'username'],
  ['username', 'userId'],
];

/** What is wrong with a header row; undefined for one column alone or `userId` and `username` in either order. */
export function headerFault(
  header: readonly string[],
): { readonly message: string; readonly suggestion?: string } | undefined {
  if (isForm(header)) return undefined;
  const message = 'the header must be email, userId, username, or userId and username together';
  const meant = header.map((cell) =>
    UPLOAD_COLUMNS.find((column) => column.toLowerCase() === cell.trim().toLowerCase()),
  );
  // Only names of our own are ever suggested: the header row may hold a user's data when it was forgotten.
  return isForm(meant) ? { message, suggestion: meant.join(',') } : { message };
}

function isForm(columns: readonly (string | undefined)[]): boolean {
  return FORMS.some((form) => form.length === columns.length && form.every((column, at) => column === columns[at]));
}
