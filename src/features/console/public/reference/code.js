/** Quotes text so that a POSIX shell reads it as one word. */
export function shellWord(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/**
 * Returns a request as a curl command. curl prompts for the password, and never interprets the body as a file name.
 * @param {{ origin: string, method: string, target: string, user?: string, headers?: Record<string, string>, body?:
 * string }} request
 */
export function curlLine({ origin, method, target, user, headers = {}, body }) {
  const words = ['curl'];
  if (method === 'HEAD') words.push('-I');
  else if (method !== 'GET') words.push('-X', method);
  if (user) words.push('-u', shellWord(user));
  for (const [name, value] of Object.entries(headers)) words.push('-H', shellWord(`${name}: ${value}`));
  if (body !== undefined) words.push('--data-raw', shellWord(body));
  words.push(shellWord(`${origin}${target}`));
  return words.join(' ');
}

/** Returns the request target for an operation with the given parameter values. Empty query parameters are omitted. */
export function targetOf(operation, values) {
  const valueOf = (where, name) => values[`${where}:${name}`] ?? '';
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(valueOf('path', name)));
  const query = operation.parameters
    .filter(({ in: where, name }) => where === 'query' && valueOf('query', name) !== '')
    .map(({ name }) => `${encodeURIComponent(name)}=${encodeURIComponent(valueOf('query', name))}`)
    .join('&');
  return query === '' ? path : `${path}?${query}`;
}

/** Returns a request as a JavaScript module. JSON strings are also valid JavaScript strings. */
function fetchCode({ origin, method, target, user, headers = {}, body }) {
  const fields = Object.entries(headers).map(
    ([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)},`,
  );
  if (user) fields.push('    "Authorization": `Basic ${btoa(`${user}:${password}`)}`,');
  return [
    ...(user ? [`const user = ${JSON.stringify(user)};`, `const password = 'YOUR PASSWORD';`, ''] : []),
    `const response = await fetch(${JSON.stringify(`${origin}${target}`)}, {`,
    ...(method === 'GET' ? [] : [`  method: ${JSON.stringify(method)},`]),
    ...(fields.length === 0 ? [] : ['  headers: {', ...fields, '  },']),
    ...(body === undefined ? [] : [`  body: ${JSON.stringify(body)},`]),
    '});',
    'console.log(response.status, await response.json());',
  ].join('\n');
}

/** Returns a request as a Python program. JSON strings are also valid Python strings. */
function pythonCode({ origin, method, target, user, headers = {}, body }) {
  const fields = Object.entries(headers).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  return [
    ...(user ? ['from getpass import getpass', ''] : []),
    'import requests',
    '',
    'response = requests.request(',
    `    ${JSON.stringify(method)},`,
    `    ${JSON.stringify(`${origin}${target}`)},`,
    ...(user ? [`    auth=(${JSON.stringify(user)}, getpass()),`] : []),
    ...(fields.length === 0 ? [] : [`    headers={${fields.join(', ')}},`]),
    ...(body === undefined ? [] : [`    data=${JSON.stringify(body)}.encode(),`]),
    ')',
    'print(response.status_code, response.text)',
  ].join('\n');
}

/** The languages in which the page shows a request, each with the function that generates the code. */
export const CODE = { curl: curlLine, fetch: fetchCode, Python: pythonCode };
