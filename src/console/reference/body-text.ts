import type { IncomingHttpHeaders } from 'node:http';

/** A body as text in its own character set; undefined where it is none: compressed, an image, or bytes that are no letters. */
export function bodyText(bytes: Uint8Array, headers: IncomingHttpHeaders): string | undefined {
  const coding = headers['content-encoding'] ?? 'identity';
  const decoder = coding === 'identity' ? decoderFor(headers['content-type'] ?? '') : undefined;
  try {
    // A last letter may be cut in two: it is left out, and is no fault.
    const text = decoder?.decode(bytes, { stream: true });
    return text?.includes('\0') === true ? undefined : text;
  } catch {
    return undefined;
  }
}

function decoderFor(mediaType: string): TextDecoder | undefined {
  const charset = /;\s*charset="?(?<name>[^\s;"]+)/i.exec(mediaType)?.groups?.['name'] ?? 'utf-8';
  try {
    return new TextDecoder(charset, { fatal: true });
  } catch {
    return undefined;
  }
}
