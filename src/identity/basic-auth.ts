import { AsyncLocalStorage } from 'node:async_hooks';
import basicAuth from 'express-basic-auth';
import type { Request, Response } from 'express';

/** One request's way through express-basic-auth. */
export interface BasicAttempt<T> {
  /** The raw value of the `Authorization` field. */
  readonly header: string;
  /** Judges the parsed credential: gives the outcome of an approved one, throws for any other. */
  readonly judge: (name: string, password: string) => Promise<T>;
  /** The error for a header without a Basic credential, and for whatever left no outcome behind. */
  readonly refusal: () => Error;
}

/** What the authorizer needs of the request it is called for, as the package hands it only name and password. */
interface Hearing {
  readonly judge: (name: string, password: string) => Promise<void>;
  readonly reject: (error: unknown) => void;
  readonly refusal: () => Error;
  /** What `judge` threw; `unauthorizedResponse` throws it again. */
  error: Error | undefined;
}

/** A request as far as the package looks at one; made for one hearing and thrown away, so `auth` never reaches ours. */
interface BareRequest {
  readonly headers: { readonly authorization: string };
  readonly hearing: Hearing;
}

/** The package would write its own 401 with this; `unauthorizedResponse` throws before it can. */
const NO_RESPONSE = Object.freeze({}) as Response;

/** Runs express-basic-auth without a response: resolves with what `judge` gives, rejects with its error or the refusal. */
export function createBasicAuth(build: typeof basicAuth = basicAuth): <T>(attempt: BasicAttempt<T>) => Promise<T> {
  const hearings = new AsyncLocalStorage<Hearing>();
  const middleware = build({
    // Without this an authorizer that returns a promise admits everybody.
    authorizeAsync: true,
    challenge: false,
    authorizer: (name, password, answer) => {
      const hearing = hearings.getStore();
      if (hearing === undefined) throw new Error('a credential without a request');
      void hear(hearing, name, password, answer);
    },
    unauthorizedResponse: (request: unknown) => {
      const { error, refusal } = (request as BareRequest).hearing;
      throw error ?? refusal();
    },
  });

  return <T>({ header, judge, refusal }: BasicAttempt<T>) => {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    let outcome: { readonly value: T } | undefined;
    const hearing: Hearing = {
      judge: async (name, password) => {
        outcome = { value: await judge(name, password) };
      },
      reject,
      refusal,
      error: undefined,
    };
    const request: BareRequest = { headers: { authorization: header }, hearing };
    // Deny by default: an approval that left no outcome behind is none.
    const next = () => (outcome ? resolve(outcome.value) : reject(refusal()));
    try {
      hearings.run(hearing, () => void middleware(request as unknown as Request, NO_RESPONSE, next));
    } catch (error) {
      reject(error);
    }
    return promise;
  };
}

async function hear(
  hearing: Hearing,
  name: string,
  password: string,
  answer: (error: null, approved: boolean) => void,
): Promise<void> {
  let approved = false;
  try {
    await hearing.judge(name, password);
    approved = true;
  } catch (error) {
    hearing.error = error instanceof Error ? error : new Error('not an error', { cause: error });
  }
  try {
    // Never an error here: the package asserts on it, outside of every promise.
    answer(null, approved);
  } catch (error) {
    hearing.reject(error);
  }
}
