/** What the issue tracker says of an issue that was looked up. */
export type FoundTicket =
  | { readonly outcome: 'found'; readonly id: string; readonly key: string; readonly self: string }
  | { readonly outcome: 'unknown' | 'failed' };

const TIMEOUT_MS = 10_000;

/** Looks an issue up in the tracker by key or id. */
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
