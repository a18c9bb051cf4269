import type { Request, Response } from 'express';
import { CLOSED_POLICY } from './closed-policy.ts';

// Shown only if a token would help: without a configured token, the browser is not asked for one.
const SIGN_IN =
  '<p>The console asks for a name and a password: any name, and the admin token as the password. ' +
  'Load this page again to be asked.</p>';

/** Refuses an operator's request: as a small page to a browser that opens one, as JSON to everybody else. */
export function refuseAdmin(req: Request, res: Response, status: number, text: string): void {
  res.status(status);
  if (!(req.headers.accept ?? '').includes('text/html')) {
    res.json({ error: text });
    return;
  }
  // The text is one of our own sentences; nothing of the request is in it.
  res.set('Content-Security-Policy', CLOSED_POLICY).type('html');
  res.send(
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Portico: access denied</title></head>` +
      `<body><main><h1>Access denied</h1><p>${text}</p>` +
      `${status === 401 ? SIGN_IN : ''}</main></body></html>`,
  );
}
