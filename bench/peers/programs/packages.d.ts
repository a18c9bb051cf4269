// Declares the types of a package that is installed only for a run (see bench/package.json), so that type checking
// works without it.

declare module 'express-openapi-validator' {
  import type { RequestHandler } from 'express';

  export function middleware(options: {
    apiSpec: string;
    validateRequests: boolean;
    validateResponses: boolean;
  }): RequestHandler[];
}
