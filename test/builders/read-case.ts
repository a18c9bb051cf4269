import { parse } from 'yaml';

/** A request in a case, and its expected results. */
export interface CaseStep {
  readonly method: string;
  readonly target: string;
  /** The caller's name. Undefined for an anonymous caller. */
  readonly user: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** The number of times the request is sent before the upstream responds. */
  readonly together: number;
  /** The upstream's response: `example`, `breaks`, or a status and a body. */
  readonly upstream: { readonly sends: string; readonly headers: Readonly<Record<string, string>> };
  /** The number of requests that reach the upstream in this step. */
  readonly asked: number;
  readonly status: number;
  readonly code: string | undefined;
  /** The expected response headers, keyed by name. The value `absent` means that the header must be missing. */
  readonly fields: Readonly<Record<string, string>>;
  /** The expected values in the body, as JSON, keyed by JSON pointer. */
  readonly values: Readonly<Record<string, string>>;
  /** The expected values in the log entry, as text, keyed by JSON pointer. */
  readonly trace: Readonly<Record<string, string>>;
}

/** A scenario with a title, an optional configuration, optional overrides, and one or more steps. */
export interface Case {
  readonly title: string;
  readonly config: Readonly<Record<string, unknown>>;
  /** The overrides that an operator sets before the first request, in the admin side's format. */
  readonly overrides: readonly Readonly<Record<string, unknown>>[];
  readonly steps: readonly CaseStep[];
}

interface Block {
  readonly name: string;
  readonly lines: readonly string[];
}

const BLOCKS = new Set(['config', 'override', 'request', 'upstream', 'expect', 'trace']);

/** Reads a case file. Throws if the file contains an unknown line, so that no line goes unchecked. */
export function readCase(text: string): Case {
  const [title = '', ...rest] = text.trim().split(/\n\s*\n/);
  const blocks = rest.map(toBlock);
  const yamlOf = (wanted: string) =>
    blocks
      .filter(({ name }) => name === wanted)
      .map(({ lines }) => parse(lines.join('\n')) as Readonly<Record<string, unknown>>);
  const steps: Block[][] = [];
  for (const block of blocks) {
    if (block.name === 'config' || block.name === 'override') continue;
    if (block.name === 'request') steps.push([]);
    const step = steps.at(-1);
    if (step === undefined) throw new Error(`${block.name} without a request before it`);
    step.push(block);
  }
  if (steps.length === 0) throw new Error('a case needs a request');
  return {
    title: title.replaceAll('\n', ' '),
    config: yamlOf('config')[0] ?? {},
    overrides: yamlOf('override'),
    steps: steps.map(toStep),
  };
}

function toBlock(text: string): Block {
  const [name = '', ...lines] = text.split('\n');
  if (!BLOCKS.has(name)) throw new Error(`not a part of a case: ${name}`);
  return { name, lines: lines.map((line) => line.replace(/^ {2}/, '')) };
}

function toStep(blocks: readonly Block[]): CaseStep {
  const linesOf = (name: string) => blocks.find((block) => block.name === name)?.lines ?? [];
  const [line = '', ...request] = linesOf('request');
  const [method = '', target = ''] = line.split(' ');
  const [sends = 'example', ...upstream] = linesOf('upstream');
  const [outcome = '', ...expected] = linesOf('expect');
  const [status, code] = outcome.split(' ');
  const said = facts(request, ['header', 'as', 'body', 'together']);
  const other = facts(upstream, ['header', 'asked']);
  const found = facts(expected, ['field', 'value']);
  const [as] = said.texts('as');
  return {
    method,
    target,
    user: as === 'anonymous' ? undefined : as,
    headers: said.pairs('header'),
    body: said.texts('body')[0],
    together: Number(said.texts('together')[0] ?? 1),
    upstream: { sends, headers: other.pairs('header') },
    asked: Number(other.texts('asked')[0] ?? 1),
    status: Number(status),
    code,
    fields: found.pairs('field'),
    values: found.pairs('value'),
    trace: Object.fromEntries(linesOf('trace').map(pair)),
  };
}

/** Reads the lines that begin with one of the words. Returns the rest of each line, as text or as names and values. */
function facts(lines: readonly string[], words: readonly string[]) {
  const all = lines.map((line) => {
    const [word = ''] = line.split(' ', 1);
    if (!words.includes(word)) throw new Error(`not understood: ${line}`);
    return { word, text: line.slice(word.length + 1) };
  });
  const texts = (wanted: string) => all.filter(({ word }) => word === wanted).map(({ text }) => text);
  return { texts, pairs: (wanted: string) => Object.fromEntries(texts(wanted).map(pair)) };
}

function pair(line: string): [string, string] {
  const colon = line.indexOf(': ');
  if (colon < 0) throw new Error(`not a name and a value: ${line}`);
  return [line.slice(0, colon).trim(), line.slice(colon + 2).trim()];
}
