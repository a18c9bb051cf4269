import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { createIssues, type IssueFile } from './issues.ts';

const FORM_LIMIT = '20mb';

/**
 * Creates the embedded issue tracker. It has a few issues, accepts attachments for these issues and returns the
 * documented objects.
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
