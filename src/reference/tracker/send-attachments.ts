import type { AttachmentRow } from '../store/sql.ts';

/** The outcome of sending files to the issue tracker. */
type SentAttachments =
  | { readonly outcome: 'copied'; readonly attachments: readonly unknown[] }
  | { readonly outcome: 'forbidden' | 'unknown issue' | 'failed' };

const TIMEOUT_MS = 10_000;

async function request(url: string, init: RequestInit): Promise<{ status: number; json: unknown } | undefined> {
  try {
    const response = await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
    return { status: response.status, json: JSON.parse(await response.text()) as unknown };
  } catch {
    return undefined;
  }
}

/** Posts the files to an issue in the tracker as a single form. If there are no files, checks that the issue exists. */
export async function sendAttachments(
  trackerUrl: string,
  issueId: string,
  files: readonly AttachmentRow[],
): Promise<SentAttachments> {
  const issue = `${trackerUrl}/rest/api/2/issue/${encodeURIComponent(issueId)}`;
  const form = new FormData();
  for (const file of files) {
    form.append('file', new Blob([new Uint8Array(file.content)], { type: file.mime_type }), file.filename);
  }
  const response =
    files.length === 0
      ? await request(issue, { method: 'GET' })
      : await request(`${issue}/attachments`, {
          method: 'POST',
          headers: { 'X-Atlassian-Token': 'no-check' },
          body: form,
        });
  if (response === undefined) return { outcome: 'failed' };
  if (response.status === 404) return { outcome: 'unknown issue' };
  if (response.status === 401 || response.status === 403) return { outcome: 'forbidden' };
  if (response.status >= 300) return { outcome: 'failed' };
  if (files.length === 0) return { outcome: 'copied', attachments: [] };
  return Array.isArray(response.json) ? { outcome: 'copied', attachments: response.json } : { outcome: 'failed' };
}

/** The outcome of looking up an issue in the issue tracker. */
type FoundTicket =
  | { readonly outcome: 'found'; readonly id: string; readonly key: string; readonly self: string }
  | { readonly outcome: 'unknown' | 'failed' };

/** Looks up an issue in the tracker by key or id. */
export async function findTicket(trackerUrl: string, key: string): Promise<FoundTicket> {
  try {
    const url = `${trackerUrl}/rest/api/2/issue/${encodeURIComponent(key)}`;
    const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (response.status === 404) return { outcome: 'unknown' };
    if (!response.ok) return { outcome: 'failed' };
    const issue = (await response.json()) as { id?: unknown; key?: unknown };
    const self = `${trackerUrl}/rest/api/2/issue/${String(issue.id)}`;
    return { outcome: 'found', id: String(issue.id), key: String(issue.key), self };
  } catch {
    return { outcome: 'failed' };
  }
}
