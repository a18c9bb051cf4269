import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Call, ClientResponse } from '../../builders/call.ts';
import { exampleResponse } from '../../builders/example-response.ts';
import { type FakeHandler, type FakeUpstream, startFakeUpstream } from '../../builders/fake-upstream.ts';
import { PROBE } from '../../builders/knowing-upstream.ts';
import { tempFolder } from '../../builders/temp-folder.ts';
import { createTestClock } from '../../builders/test-clock.ts';
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../../builders/test-gateway.ts';
import type { ShownToken } from '../../../src/features/tokens/tokens-routes.ts';

export const QUESTIONS = '/services/v2/question.json';
/** A comment, which only the caller's own credential can fetch. */
export const COMMENT = '/services/v2/comment/271.json';
export const ADMIN_TOKEN = 'the-admin-token';
export const SERVICE = { kind: 'service', username: 'robot', password: 'robot-secret' };
export const SCOPE = ['View the questions list', 'View the question page'];

/** The passwords of alice that the upstream accepts. */
export const PASSWORDS = ['own-password', 'other-password'];

/** An upstream that accepts these passwords of alice, and no others. */
export const knowsAlice: FakeHandler = (request) => {
  if (request.path !== PROBE) return exampleResponse(request);
  const { user, password = '' } = request;
  return user === 'alice' && PASSWORDS.includes(password)
    ? { status: 404 }
    : { status: 401, json: { error: 'Bad credentials' } };
};

/** A key of the length that Portico requires. */
export const keyText = (name: string): string => name.repeat(40).slice(0, 48);

/** Writes a key to a file, and returns the path of the file. */
export function keyFile(name: string, folder = tempFolder()): string {
  const file = join(folder, `${name}.key`);
  writeFileSync(file, `${keyText(name)}\n`, { mode: 0o600 });
  return file;
}

/** What the admin side returns about tokens. */
export interface TokensReply {
  readonly token: string;
  readonly created: ShownToken;
  readonly replaced: ShownToken;
  readonly revoked: ShownToken;
  readonly changed: ShownToken;
  readonly stored: boolean;
  readonly tokens: readonly ShownToken[];
  readonly error: string;
  readonly faults: readonly { readonly field: string; readonly message: string }[];
}

/** A gateway with tokens. */
export interface TokenGateway {
  readonly gateway: TestGateway;
  readonly upstream: FakeUpstream;
  readonly clock: ReturnType<typeof createTestClock>;
  /** The file in which the gateway stores its tokens. */
  readonly file: string;
  /** Sends a change to the admin side, as an operator. */
  change(path: string, body: object): Promise<{ readonly status: number; readonly json: TokensReply }>;
  list(): Promise<readonly ShownToken[]>;
  /** Creates a token of alice, and returns it. */
  create(more?: object): Promise<{ readonly id: string; readonly token: string }>;
  /** Sends a request with an `Authorization` value, and returns the response and what reached the upstream. */
  ask(
    authorization: string,
    target?: string,
    call?: Call,
  ): Promise<{
    readonly reply: ClientResponse;
    readonly status: number;
    readonly sent: readonly (string | undefined)[];
  }>;
}

/** Starts a gateway with tokens in front of an upstream. */
export async function startTokenGateway({
  config = {},
  upstream: given,
  clock = createTestClock(),
  folder = tempFolder(),
  ...more
}: Partial<Omit<TestGatewayOptions, 'clock' | 'upstream'>> & {
  readonly upstream?: FakeUpstream;
  readonly clock?: ReturnType<typeof createTestClock>;
  readonly folder?: string;
} = {}): Promise<TokenGateway> {
  const upstream = given ?? (await startFakeUpstream(knowsAlice));
  const { tokens, upstream: sent, ...others } = config as Readonly<Record<string, object>>;
  const file = join(folder, 'tokens.json');
  const gateway = await startTestGateway({
    upstream,
    clock,
    env: { PORTICO_ADMIN_TOKEN: ADMIN_TOKEN },
    ...more,
    config: {
      upstream: { credentials: SERVICE, ...sent },
      tokens: { keyFile: keyFile('tokens', folder), file, ...tokens },
      ...others,
    },
  });
  return withTokens(gateway, { upstream, clock, file });
}

/** Returns what tests do with the tokens of a running gateway. */
export function withTokens(
  gateway: TestGateway,
  { upstream, clock, file }: Pick<TokenGateway, 'upstream' | 'clock' | 'file'>,
): TokenGateway {
  const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
  const change: TokenGateway['change'] = async (path, body) => {
    const { status, json } = await gateway.admin(`/tokens${path}`, { method: 'POST', body, headers });
    return { status, json: json as unknown as TokensReply };
  };
  return {
    gateway,
    upstream,
    clock,
    file,
    change,
    async list() {
      const { json } = await gateway.admin('/tokens', { headers });
      return (json as unknown as TokensReply).tokens;
    },
    async create(given = {}) {
      const { status, json } = await change('', { for: 'alice', scope: SCOPE, expiresDays: 90, ...given });
      if (status !== 200) throw new Error(json.error);
      return { id: json.created.id, token: json.token };
    },
    async ask(authorization, target = QUESTIONS, call = {}) {
      const before = upstream.requests.length;
      const reply = await gateway.call(target, {
        ...call,
        user: null,
        headers: { ...call.headers, Authorization: authorization },
      });
      const sent = upstream.requests.slice(before).map((request) => request.headers.authorization);
      return { reply, status: reply.status, sent };
    },
  };
}
