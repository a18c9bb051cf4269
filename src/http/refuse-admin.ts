import type { Request, Response } from 'express';

// Shown only if a token is configured, because otherwise the browser does not ask for a password.
const SIGN_IN =
  '<p>The console asks for a name and a password: any name, and the admin token as the password. ' +
  'Reload this page to enter them.</p>';

/** Refuses an operator's request. Browsers receive a small page, and other clients receive JSON. */
export function refuseAdmin(req: Request, res: Response, status: number, text: string): void {
  res.status(status);
  if (!(req.headers.accept ?? '').includes('text/html')) {
    res.json({ error: text });
    return;
  }
  // The text is a fixed sentence that does not contain any part of the request.
  res.set('Content-Security-Policy', CLOSED_POLICY).type('html');
  res.send(
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Portico: access denied</title></head>` +
      `<body><main><h1>Access denied</h1><p>${text}</p>` +
      `${status === 401 ? SIGN_IN : ''}</main></body></html>`,
  );
}

/**
 * The `Content-Security-Policy` of responses that are not pages. It prevents them from loading anything and from being
 * shown in a frame.
 */
export const CLOSED_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
