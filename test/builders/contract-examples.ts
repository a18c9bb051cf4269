import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

type Tree = Readonly<Record<string, unknown>>;

const document = parse(readFileSync(new URL('../../schemas/openapi.yaml', import.meta.url), 'utf8')) as Tree;

/** A body that tests modify. */
export interface Example extends Record<string, unknown> {
  author: Example;
  list: [Example, ...Example[]];
  result: Example;
}

/** Returns a new copy of the body in an operation's first documented success response. */
export function exampleOf(operationId: string): Example {
  const text = texts.get(operationId) ?? JSON.stringify(findExample(operationId));
  texts.set(operationId, text);
  return JSON.parse(text) as Example;
}

/** The examples as JSON, because parsing is the fastest way to copy them. */
const texts = new Map<string, string>();

function findExample(operationId: string): unknown {
  for (const methods of childrenOf(document, 'paths')) {
    for (const operation of Object.values(methods) as Tree[]) {
      if (operation['operationId'] !== operationId) continue;
      const responses = operation['responses'] as Record<string, Tree>;
      const success = resolved(responses['200'] ?? responses['201']);
      const json = (success['content'] as Record<string, Tree>)['application/json'] ?? {};
      const [example] = childrenOf(json, 'examples');
      return resolved(example)['value'];
    }
  }
  throw new Error(`the contract has no operation ${operationId}`);
}

function childrenOf(tree: Tree, name: string): Tree[] {
  return Object.values((tree[name] ?? {}) as Record<string, Tree>);
}

function resolved(tree: Tree | undefined): Tree {
  const reference = tree?.['$ref'];
  if (typeof reference !== 'string') return tree ?? {};
  return reference
    .split('/')
    .slice(1)
    .reduce((at, name) => at[name] as Tree, document);
}
