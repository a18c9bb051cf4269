import { type Static, Type } from 'typebox';

/**
 * The algorithms that an issuer may use: signatures with a public key. `none` and those with a shared secret (`HS…`) are
 * not among them, so a token can never choose one.
 */
export const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

const claim = { pattern: '^[!-~]{1,100}$' };

const issuer = Type.Object(
  {
    issuer: Type.String({
      pattern: '^https?://[A-Za-z0-9._~:/\\[\\]-]{1,500}$',
      description:
        'The issuer, exactly as in the claim `iss` of its tokens. `/.well-known/openid-configuration` below it names its keys. Must begin with `https:`, unless it is on this machine.',
    }),
    audience: Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'What the claim `aud` of a token must contain: the name under which the issuer knows this API.',
    }),
    algorithms: Type.Array(Type.Enum(ALGORITHMS), {
      minItems: 1,
      uniqueItems: true,
      default: ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'],
      description: 'The only algorithms that are accepted in signatures.',
    }),
    caller: Type.String({
      ...claim,
      default: 'sub',
      description:
        'The claim that names the caller. Without `roles`, it must be the name of an account, and one that users cannot change themselves.',
    }),
    roles: Type.Optional(
      Type.Object(
        {
          claim: Type.String({ ...claim, description: 'The claim with a text or a list of texts, such as `groups`.' }),
          map: Type.Record(
            Type.String({ minLength: 1, maxLength: 200 }),
            Type.String({ minLength: 1, maxLength: 100 }),
            {
              description: 'The role of the roles file for each text in the claim. Other texts grant nothing.',
            },
          ),
        },
        {
          additionalProperties: false,
          description: 'Which roles callers have. By default, those of the account in the roles file with their name.',
        },
      ),
    ),
    leewaySeconds: Type.Integer({
      minimum: 0,
      maximum: 300,
      default: 30,
      description: 'How far the clocks of the issuer and of this machine may differ.',
    }),
  },
  { additionalProperties: false },
);

/** The options under the `oidc` configuration key. */
export const options = Type.Object(
  {
    issuers: Type.Array(issuer, {
      maxItems: 10,
      default: [],
      description: 'The OpenID Connect issuers whose tokens are accepted. None by default.',
    }),
    maxTokenBytes: Type.Integer({
      minimum: 256,
      maximum: 65_536,
      default: 8192,
      description: 'Maximum length of a token.',
    }),
    keysSeconds: Type.Integer({
      minimum: 60,
      maximum: 86_400,
      default: 600,
      description:
        'After how long the keys of an issuer are fetched again. If the issuer does not respond, they are used for as long again; then tokens get a 503.',
    }),
    refetchSeconds: Type.Integer({
      minimum: 1,
      maximum: 3600,
      default: 30,
      description: 'How long nothing is fetched after a fetch, even for a token whose key is not known.',
    }),
    timeoutMs: Type.Integer({ minimum: 100, maximum: 60_000, default: 5000, description: 'Timeout of a fetch.' }),
  },
  {
    additionalProperties: false,
    default: {},
    description: 'Tokens of OpenID Connect issuers, as JSON Web Tokens (docs/tokens.md#openid-connect).',
  },
);

/** The options under the `oidc` configuration key. */
export type OidcOptions = Static<typeof options>;

/** The options of an issuer. */
export type IssuerOptions = Static<typeof issuer>;
