/** The file of a resource, from the folder of schemas; `projected` has nothing required inside items. */
export function resourceFile(name: string, projected = false): string {
  const kebab = name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase();
  return `resources/${kebab}${projected ? '.projected' : ''}.schema.json`;
}

/** Which form of an answer a schema describes: whole, with a projection, or `details=true`. */
export type ResponseVariant = 'full' | 'projected' | 'open';

/** The file of one answer of an operation; `status` is a number or `default`. */
export function responseFile(operationId: string, status: string, variant: ResponseVariant): string {
  const suffix = { full: '', projected: '.projected', open: '.details' }[variant];
  return `operations/${operationId}/response.${status}${suffix}.schema.json`;
}

/** The file of an operation's parameters. */
export function parametersFile(operationId: string): string {
  return `operations/${operationId}/parameters.schema.json`;
}

/** The file of an operation's request body. */
export function requestFile(operationId: string): string {
  return `operations/${operationId}/request.schema.json`;
}
