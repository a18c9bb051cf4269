import { isPlainObject } from '../../lib/plain-object.ts';

/** A form in which an API's servers report errors, as plain data. */
export interface ServerErrorForm {
  /** The name in traces, logs and reports, such as `error`. Never `html`, `empty` or `other`, which mean no form. */
  readonly name: string;
  /**
   * The names of the members that lead to the message, from the top of the body. A response that contains the first one
   * is an error.
   */
  readonly at: readonly [string, ...string[]];
  /** What follows the message if the caller lacks a credential or a permission. */
  readonly endOfDenials?: string;
}

/** The forms in which an API's servers report errors. If a body has several, the first one counts. */
export type ServerErrors = readonly ServerErrorForm[];

/** Returns whether a parsed body is an error in one of the forms. */
export function isServerError(forms: ServerErrors, json: unknown): boolean {
  return isPlainObject(json) && forms.some(({ at }) => Object.hasOwn(json, at[0]));
}

/** Returns the messages in a parsed body, each with the name of its form. */
export function serverMessages(
  forms: ServerErrors,
  json: unknown,
): readonly { readonly name: string; readonly message: string }[] {
  return forms.flatMap(({ name, at }) => {
    const message = at.reduce(
      (value, member) => (isPlainObject(value) && Object.hasOwn(value, member) ? value[member] : undefined),
      json,
    );
    return typeof message === 'string' ? [{ name, message }] : [];
  });
}

/** Returns a body of a form. `isDenial` is true if the caller lacks a credential or a permission. */
export function serverErrorBody({ at, endOfDenials }: ServerErrorForm, message: string, isDenial: boolean): unknown {
  const text = isDenial && endOfDenials !== undefined ? message + endOfDenials : message;
  return at.reduceRight<unknown>((value, member) => ({ [member]: value }), text);
}

/** Returns an example of a form for people, such as `{errors: {message}}`. */
export const wordsOfForm = ({ at }: ServerErrorForm): string => `{${at.join(': {')}${'}'.repeat(at.length)}`;
