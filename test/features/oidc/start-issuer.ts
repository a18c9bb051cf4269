import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  CompactSign,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  type JWK,
  SignJWT,
  type JWTPayload,
  type JWTHeaderParameters,
} from 'jose';
import { type Configuration, Provider } from 'oidc-provider';
import { vi } from 'vitest';
import { cleanUpAfterFile } from '../../builders/clean-up.ts';
import { closeServer } from '../../builders/close-server.ts';

export const AUDIENCE = 'https://qa.example.org/';

/** A key pair of an issuer. */
export interface SigningKey {
  readonly jwk: JWK & { readonly kid: string };
  /** The public key, as a PEM text. */
  readonly publicPem: string;
  /** Signs a token with any claims, as the issuer would. */
  sign(payload: object, header?: Partial<JWTHeaderParameters>): Promise<string>;
  /** Signs a token whose payload is any text. */
  signText(payload: string, header?: Partial<JWTHeaderParameters>): Promise<string>;
}

/** Creates a key pair. */
export async function createKey(kid: string, alg = 'RS256'): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), kid, alg, use: 'sig' };
  return {
    jwk,
    publicPem: await exportSPKI(publicKey),
    signText: (payload, header = {}) =>
      new CompactSign(new TextEncoder().encode(payload))
        .setProtectedHeader({ alg, kid, typ: 'at+jwt', ...header })
        .sign(privateKey),
    sign: (payload, header = {}) =>
      new SignJWT(payload as JWTPayload).setProtectedHeader({ alg, kid, typ: 'at+jwt', ...header }).sign(privateKey),
  };
}

/** A real OpenID provider on this machine. */
export interface Issuer {
  readonly url: string;
  /** The paths that were requested, in order. */
  readonly requests: string[];
  /** Replaces the keys with which tokens are signed. */
  rotate(...keys: readonly SigningKey[]): void;
  /** Makes all requests fail, or succeed again. */
  fail(fails: boolean): void;
  /** Gets an access token for a client, as the client does. */
  tokenFor(client: string): Promise<string>;
}

/** The clients of the issuer. The group of each is the claim `groups` in its tokens. */
const CLIENTS: Readonly<Record<string, readonly string[]>> = {
  alice: ['readers', 'unmapped'],
  reporter: ['reporters'],
  stranger: [],
};

/** Starts an OpenID provider with these keys. */
export async function startIssuer(...first: readonly SigningKey[]): Promise<Issuer> {
  const requests: string[] = [];
  let fails = false;
  let handle: ReturnType<Provider['callback']> | undefined;
  const server: Server = createServer((request, response) => {
    requests.push(request.url ?? '');
    if (fails || handle === undefined) {
      response.writeHead(503).end();
      return;
    }
    void handle(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUpAfterFile(() => closeServer(server));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  // The provider warns that its memory is not for production.
  vi.spyOn(console, 'info').mockReturnValue();
  vi.spyOn(console, 'warn').mockReturnValue();
  const use = (keys: readonly SigningKey[]) => {
    handle = new Provider(url, configurationWith(keys)).callback();
  };
  use(first);
  return {
    url,
    requests,
    rotate: (...keys) => use(keys),
    fail(given) {
      fails = given;
    },
    async tokenFor(client) {
      const response = await fetch(`${url}/token`, {
        method: 'POST',
        headers: {
          Authorization: `Basic ${btoa(`${client}:secret-of-${client}`)}`,
          'Content-Type': 'application/x-www-form-urlencoded',
        },
        body: new URLSearchParams({ grant_type: 'client_credentials', resource: AUDIENCE, scope: 'read' }),
      });
      const { access_token: token } = (await response.json()) as { access_token?: string };
      if (token === undefined) throw new Error(`the issuer returned status ${response.status}`);
      return token;
    },
  };
}

function configurationWith(keys: readonly SigningKey[]): Configuration {
  return {
    clients: Object.keys(CLIENTS).map((name) => ({
      client_id: name,
      client_secret: `secret-of-${name}`,
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    })),
    jwks: { keys: keys.map(({ jwk }) => jwk) },
    scopes: ['read'],
    ttl: { ClientCredentials: 300 },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: 'read',
          audience: AUDIENCE,
          accessTokenFormat: 'jwt',
          accessTokenTTL: 300,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    extraTokenClaims: (_context, token) => ({
      groups: [...(CLIENTS[String(token.clientId)] ?? [])],
      account: String(token.clientId),
    }),
  };
}
