import { type IncomingMessage, request } from 'node:http';
import { basic } from '../../builders/call.ts';
import { cleanUpAfterTest } from '../../builders/clean-up.ts';
import { until } from '../../builders/until.ts';

/** A message of an event stream. */
export interface StreamMessage {
  readonly id: string;
  readonly event: string | undefined;
  readonly data: StreamEvent;
}

/** The data of a message. */
export interface StreamEvent {
  readonly id: string;
  readonly time: string;
  readonly kind: string;
  readonly list: string;
  readonly target: { readonly type: string; readonly id: string };
  readonly data: Readonly<Record<string, unknown>>;
}

/** An open event stream, as a client sees it. */
export interface OpenStream {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly messages: readonly StreamMessage[];
  /** The comments that have arrived. */
  readonly comments: readonly string[];
  /** The last id, which messages without data can set, too. */
  readonly lastId: () => string | undefined;
  readonly text: () => string;
  isEnded(): boolean;
  received(count: number): Promise<readonly StreamMessage[]>;
  pause(): void;
  resume(): void;
  close(): void;
}

/** Opens an event stream. Without a user, no credential is sent. */
export async function openStream(
  origin: string,
  target: string,
  {
    user = 'admin',
    password = user ?? '',
    headers = {},
  }: {
    readonly user?: string | null;
    readonly password?: string;
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
): Promise<OpenStream> {
  const sent = request(new URL(target, origin), {
    agent: false,
    headers: { ...(user !== null && { Authorization: basic(user, password) }), ...headers },
  });
  cleanUpAfterTest(() => sent.destroy());
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).once('error', reject).end();
  });
  const messages: StreamMessage[] = [];
  const comments: string[] = [];
  let lastId: string | undefined;
  let all = '';
  let rest = '';
  let ended = false;
  const read = (block: string) => {
    const fields = new Map<string, string>();
    for (const line of block.split('\n')) {
      const colon = line.indexOf(':');
      if (colon === 0) comments.push(line.slice(1).trim());
      else fields.set(line.slice(0, colon), line.slice(colon + 1).trim());
    }
    lastId = fields.get('id') ?? lastId;
    const data = fields.get('data');
    const event = fields.get('event');
    if (data === undefined || event === 'end') return;
    messages.push({ id: fields.get('id') ?? '', event, data: JSON.parse(data) as StreamEvent });
  };
  response.setEncoding('utf8').on('data', (text: string) => {
    all += text;
    rest += text;
    const blocks = rest.split('\n\n');
    rest = blocks.pop() ?? '';
    blocks.forEach(read);
  });
  const end = () => void (ended = true);
  response.once('end', end).once('close', end).once('error', end);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    messages,
    comments,
    lastId: () => lastId,
    text: () => all,
    isEnded: () => ended,
    async received(count) {
      await until(() => messages.length >= count);
      return messages;
    },
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    close: () => void sent.destroy(),
  };
}
