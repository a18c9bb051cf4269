import { type Static, Type } from 'typebox';

const headerNames = Type.String({ pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$" });

/** The options under the `cors` configuration key. */
export const options = Type.Object(
  {
    origins: Type.Array(
      Type.String({
        pattern: String.raw`^(?:\*|https?://(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?)$`,
        description: 'Scheme, host and port in lower case, for example https://app.example.org, or *.',
      }),
      {
        minItems: 1,
        uniqueItems: true,
        description: 'The origins whose pages may read responses, or a single * for every origin.',
      },
    ),
    methods: Type.Optional(
      Type.Array(Type.Enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']), {
        description: 'The methods that pages may use; by default, those that the contract documents for the path.',
      }),
    ),
    headers: Type.Array(headerNames, {
      default: ['Authorization', 'Content-Type', 'If-None-Match', 'Portico-Force', 'X-Request-Id', 'Traceparent'],
      description: 'The request headers that pages may set.',
    }),
    exposeHeaders: Type.Array(headerNames, {
      default: ['Age', 'Cache-Status', 'Contract-Status', 'ETag', 'Proxy-Status', 'Retry-After', 'X-Request-Id'],
      description: 'The response headers that pages may read.',
    }),
    credentials: Type.Boolean({
      default: false,
      description: 'Whether browsers may send stored credentials, such as cookies. Not allowed with the origin *.',
    }),
    maxAgeSeconds: Type.Integer({
      minimum: 0,
      maximum: 86_400,
      default: 600,
      description: 'How long a browser may cache the response to a preflight request.',
    }),
  },
  {
    additionalProperties: false,
    description:
      'Lets the pages of other origins use the public side in a browser (docs/operations.md#browsers). Without it, no CORS headers are added.',
  },
);

/** The options under the `cors` configuration key. Undefined if the key is not set. */
export type CorsOptions = Static<typeof options>;
