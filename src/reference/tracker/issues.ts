/** A file attached to the issue. */
export interface IssueFile {
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** The issues in the embedded tracker: `QA-1` to `QA-4`. */
export const KNOWN_ISSUES: readonly { readonly id: string; readonly key: string }[] = [1, 2, 3, 4].map((number) => ({
  id: String(10_000 + number),
  key: `QA-${number}`,
}));

// The maximum number of attachments stored in memory. If there are more, the oldest attachment is removed.
const MAX_FILES = 1000;
const AVATAR_SIZES = ['48x48', '24x24', '16x16', '32x32'] as const;

function trackerAuthor(url: string): Record<string, unknown> {
  const avatar = (size: string): string => `${url}/secure/useravatar?size=${size}`;
  return {
    self: `${url}/rest/api/2/user?accountId=community`,
    name: 'community',
    key: 'community',
    accountId: 'community',
    emailAddress: 'community@tracker.example.org',
    avatarUrls: Object.fromEntries(AVATAR_SIZES.map((size) => [size, avatar(size)])),
    displayName: 'Community integration',
    active: true,
    timeZone: 'Etc/UTC',
  };
}

/**
 * Creates the tracker's issues. `url` returns the tracker's own URL, and `clock` returns the time in epoch
 * milliseconds.
 */
export function createIssues(url: () => string, clock: () => number) {
  const files = new Map<string, IssueFile>();
  let nextId = 10_100;
  return {
    find: (idOrKey: string) => {
      const issue = KNOWN_ISSUES.find(({ id, key }) => idOrKey === id || idOrKey === key);
      if (issue === undefined) return undefined;
      return { ...issue, self: `${url()}/rest/api/2/issue/${issue.id}`, fields: { summary: 'From the community' } };
    },
    /** Stores the file and returns its description, an issue-tracker attachment. */
    attach: (file: IssueFile) => {
      const id = String(nextId++);
      files.set(id, file);
      if (files.size > MAX_FILES) files.delete(files.keys().next().value ?? '');
      const name = encodeURIComponent(file.name);
      return {
        self: `${url()}/rest/api/2/attachment/${id}`,
        id,
        filename: file.name,
        author: trackerAuthor(url()),
        created: new Date(clock()).toISOString().replace('Z', '+0000'),
        size: file.bytes.byteLength,
        mimeType: file.mimeType,
        content: `${url()}/secure/attachment/${id}/${name}`,
        thumbnail: `${url()}/secure/thumbnail/${id}/${name}`,
      };
    },
    file: (id: string) => files.get(id),
  };
}
