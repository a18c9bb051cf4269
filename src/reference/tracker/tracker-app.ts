import express, { type Express, type NextFunction, type Request, type Response } from 'express';

const FORM_LIMIT = '20mb';

/**
 * Creates the embedded issue tracker. It has a few issues, accepts attachments for them and returns the documented
 * objects.
 */
export function createTrackerApp(url: () => string, clock: () => number): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  const issues = createIssues(url, clock);
  const unknown = { errorMessages: ['Issue Does Not Exist'], errors: {} };

  app.get('/rest/api/2/issue/:idOrKey', (request, response) => {
    const issue = issues.find(request.params.idOrKey);
    response.status(issue === undefined ? 404 : 200).json(issue ?? unknown);
  });
  const attachFiles = async (request: Request, response: Response): Promise<void> => {
    if (issues.find(String(request.params['idOrKey'])) === undefined) {
      response.status(404).json(unknown);
      return;
    }
    if (request.get('x-atlassian-token') !== 'no-check') {
      response.status(403).type('text/plain').send('XSRF check failed');
      return;
    }
    const files = await readMultipartFiles(request.body as unknown, request.get('content-type') ?? '');
    if (files === undefined) response.status(400).json({ errorMessages: ['The form cannot be read'], errors: {} });
    else response.json(files.map((file) => issues.attach(file)));
  };
  const anyBody = express.raw({ type: () => true, limit: FORM_LIMIT });
  app.post('/rest/api/2/issue/:idOrKey/attachments', anyBody, (request, response) => attachFiles(request, response));
  app.get('/secure/:kind/:id/:name', (request, response) => {
    const file = issues.file(request.params.id);
    if (file === undefined) response.sendStatus(404);
    else response.type(file.mimeType).send(Buffer.from(file.bytes));
  });
  app.use((_request, response) => {
    response.status(404).json({ errorMessages: ['Not found'], errors: {} });
  });
  app.use((_error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    response.status(400).json({ errorMessages: ['Bad request'], errors: {} });
  });
  return app;
}

/** Parses the files named `file` in a multipart form. Returns undefined if the body is not a multipart form. */
async function readMultipartFiles(body: unknown, contentType: string): Promise<IssueFile[] | undefined> {
  if (!Buffer.isBuffer(body)) return undefined;
  try {
    const response = new Response(new Uint8Array(body), { headers: { 'content-type': contentType } });
    const parts = (await response.formData()).getAll('file').filter((part) => typeof part !== 'string');
    return await Promise.all(
      parts.map(async (part) => ({
        name: part.name,
        mimeType: part.type,
        bytes: new Uint8Array(await part.arrayBuffer()),
      })),
    );
  } catch {
    return undefined;
  }
}

/** A file attached to the issue. */
interface IssueFile {
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** The issues of the embedded tracker: `QA-1` to `QA-4`. */
export const KNOWN_ISSUES: readonly { readonly id: string; readonly key: string }[] = [1, 2, 3, 4].map((number) => ({
  id: String(10_000 + number),
  key: `QA-${number}`,
}));

// The maximum number of attachments. Attachments are stored in memory. If the maximum is exceeded, the oldest one is
// removed.
const MAX_FILES = 1000;
const AVATAR_SIZES = ['48x48', '24x24', '16x16', '32x32'] as const;

/** The issues of the tracker with their attachments. */
interface Issues {
  find(idOrKey: string): Record<string, unknown> | undefined;
  /** Stores the file and returns its description (specification, Issue-tracker attachment). */
  attach(file: IssueFile): Record<string, unknown>;
  file(id: string): IssueFile | undefined;
}

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
function createIssues(url: () => string, clock: () => number): Issues {
  const files = new Map<string, IssueFile>();
  let nextId = 10_100;
  return {
    find: (idOrKey) => {
      const issue = KNOWN_ISSUES.find(({ id, key }) => idOrKey === id || idOrKey === key);
      if (issue === undefined) return undefined;
      return { ...issue, self: `${url()}/rest/api/2/issue/${issue.id}`, fields: { summary: 'From the community' } };
    },
    attach: (file) => {
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
    file: (id) => files.get(id),
  };
}
