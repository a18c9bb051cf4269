// Declares types for packages that are installed only for a run (see bench/package.json), so that type checking works
// without them.

declare module 'express-openapi-validator' {
  import type { RequestHandler } from 'express';

  export function middleware(options: {
    apiSpec: string;
    validateRequests: boolean;
    validateResponses: boolean;
  }): RequestHandler[];
}

declare module 'fastify' {
  interface FastifyApp {
    register<Options>(plugin: (app: FastifyApp, options: Options) => void, options: Options): PromiseLike<unknown>;
    listen(address: { port: number; host: string }): Promise<string>;
  }

  export default function Fastify(): FastifyApp;
}

declare module '@fastify/http-proxy' {
  import type { FastifyApp } from 'fastify';

  export default function httpProxy(app: FastifyApp, options: { upstream: string }): void;
}
