import type { Request, Response } from 'express';

// Shown only if a token would help. If no token is configured, the browser is not asked for one.
const SIGN_IN =
  '<p>The console asks for a name and a password: any name, and the admin token as the password. ' +
  'Reload this page to enter them.</p>';

/** Refuses an operator's request with a small page for browsers and with JSON for other clients. */
export function refuseAdmin(req: Request, res: Response, status: number, text: string): void {
  res.status(status);
  if (!(req.headers.accept ?? '').includes('text/html')) {
    res.json({ error: text });
    return;
  }
  // The text is a fixed sentence without any part of the request.
  res.set('Content-Security-Policy', CLOSED_POLICY).type('html');
  res.send(
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Portico: access denied</title></head>` +
      `<body><main><h1>Access denied</h1><p>${text}</p>` +
      `${status === 401 ? SIGN_IN : ''}</main></body></html>`,
  );
}

/**
 * The `Content-Security-Policy` of responses that are not pages: a browser loads nothing for them and does not frame
 * them.
 */
export const CLOSED_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
