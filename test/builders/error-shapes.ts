import type { FakeResponse } from './fake-upstream.ts';

/** The legacy server's message about a missing permission. */
export const PERMISSION_HTML = "You don't have permission to do this action.<br>Please login as another user";

/** The message about a missing permission, as Portico's clients receive it. */
export const PERMISSION_TEXT = "You don't have permission to do this action. Please login as another user";

/** Returns an error in the form `{error}`. */
export function errorText(status: number, message: string, headers: FakeResponse['headers'] = {}): FakeResponse {
  return { status, headers, json: { error: message } };
}

/** Returns an error in the form `{errors: {message}}`. */
export function errorsMessage(status: number, message: string, headers: FakeResponse['headers'] = {}): FakeResponse {
  return { status, headers, json: { errors: { message } } };
}

/** Returns an error page of the servlet container. Any path may return this page. */
export function htmlPage(status: number): FakeResponse {
  return {
    status,
    headers: { 'Content-Type': 'text/html;charset=utf-8' },
    body: `<!doctype html><html><head><title>HTTP Status ${status}</title></head><body><h1>HTTP Status ${status}</h1></body></html>`,
  };
}
