import type { IssueFile } from './issues.ts';

/** Reads the files named `file` of a multipart form; undefined when the body is no such form. */
export async function readMultipartFiles(body: unknown, contentType: string): Promise<IssueFile[] | undefined> {
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
