import { connect } from 'node:net';

/** A complete response as received. */
export interface RawResponse {
  readonly status: number;
  /** Header values by lower-case name. If a header is repeated, only the last value is stored. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body without its transfer coding, but with its content coding. */
  readonly body: Buffer;
  /** The total number of bytes in the head and the body. */
  readonly bytes: number;
}

/** Sends a GET request on a new connection and reads the complete response. Rejects after a minute. */
export function rawRequest(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const parts: Buffer[] = [];
    const lines = Object.entries({ Host: `127.0.0.1:${port}`, ...headers }).map(([name, value]) => `${name}: ${value}`);
    socket.setTimeout(60_000, () => socket.destroy(new Error(`no response for ${path} within 60 s`)));
    socket.on('error', reject);
    socket.on('data', (part: Buffer) => {
      parts.push(part);
      const response = parseResponse(Buffer.concat(parts));
      if (response === undefined) return;
      socket.destroy();
      resolve(response);
    });
    socket.on('end', () => reject(new Error(`the connection ended in the middle of the response for ${path}`)));
    socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  });
}

/** Parses a response. Returns undefined while it is incomplete. */
export function parseResponse(data: Buffer): RawResponse | undefined {
  const end = data.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = data.toString('latin1', 0, end).split('\r\n');
  const status = Number(first.split(' ')[1]);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const rest = data.subarray(end + 4);
  if (status === 304 || status === 204) return { status, headers, body: Buffer.alloc(0), bytes: end + 4 };
  if (headers['transfer-encoding'] === 'chunked') {
    const body = dechunk(rest);
    return body === undefined ? undefined : { status, headers, body, bytes: data.length };
  }
  const length = Number(headers['content-length'] ?? 0);
  return rest.length < length
    ? undefined
    : { status, headers, body: rest.subarray(0, length), bytes: end + 4 + length };
}

function dechunk(data: Buffer): Buffer | undefined {
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const end = data.indexOf('\r\n', at);
    if (end < 0) return undefined;
    const size = Number.parseInt(data.toString('latin1', at, end), 16);
    if (data.length < end + 2 + size + 2) return undefined;
    if (size === 0) return Buffer.concat(parts);
    parts.push(data.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}
