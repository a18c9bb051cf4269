import { METHODS } from 'node:http';
import { didYouMean } from '../../lib/closest-name.ts';
import { explainLine, type ExplainStep } from '../../engine/pipeline/explain.ts';
import type { ExplainRequest } from '../../engine/pipeline/dry-run.ts';
import { EXIT, UsageError } from '../../lib/command.ts';
import { type ProgramCommand, type ProgramIo, withExamples } from '../program.ts';
import { FORMAT_FLAG, wantsJson } from '../command-output.ts';
import { jsonDocument } from '../../lib/json-document.ts';
import { CONFIG_FLAGS, settingsFrom, withAssembly } from '../flags/config-flags.ts';

/**
 * The `portico explain` command shows how the gateway would handle a request. It runs the gateway's own code but never
 * contacts the upstream.
 */
export const explainCommand: ProgramCommand = {
  name: 'explain',
  summary: 'Show what would happen to a request, without sending it to the upstream',
  args: '[METHOD] TARGET',
  argCount: [1, 2],
  flags: [
    ...CONFIG_FLAGS,
    { name: 'as', value: 'ACCOUNT', help: 'Account to send the request as; anonymous by default.' },
    {
      name: 'token',
      value: 'ID',
      help: 'The id of a token to send in place of an account, as portico token list shows it.',
    },
    { name: 'body', value: 'JSON', help: 'Request body; none by default.' },
    FORMAT_FLAG,
  ],
  notes: ["Example: portico explain GET '{target}' --as alice"],
  run: async (line, io) => {
    const [method, target] = line.args.length === 1 ? ['GET', line.args[0] ?? ''] : line.args;
    const body = line.last('body');
    const token = line.last('token');
    if (token !== undefined && line.last('as') !== undefined)
      throw new UsageError('explain: --as and --token cannot be used together');
    const request = {
      method: methodOf(method ?? ''),
      target: targetOf(target ?? '', io.product),
      as: line.last('as'),
      token,
      ...(body !== undefined && { body, headers: { 'Content-Type': 'application/json' } }),
    };
    const json = wantsJson(line);
    const steps = await withAssembly(await settingsFrom(line, io), (assembly) => assembly.explain(request));
    if (json) io.out(explainJson(request, steps));
    else steps.map(explainLine).forEach(io.out);
    return EXIT.ok;
  },
};

function methodOf(text: string): string {
  const method = text.toUpperCase();
  if (METHODS.includes(method)) return method;
  throw new UsageError(`"${text}" is not an HTTP method${didYouMean(method, METHODS)}`);
}

// Complete URLs are also accepted, because users may paste them.
function targetOf(text: string, product: ProgramIo['product']): string {
  const target = text.replace(/^https?:\/\/[^/?#]+/, '');
  if (target.startsWith('/')) return target;
  throw new UsageError(
    withExamples(`"${text}" is not a request target: it must start with a slash, as in {target}`, product),
  );
}

function explainJson({ method, target, as, token }: ExplainRequest, steps: readonly ExplainStep[]): string {
  const verdict = steps.findLast(({ name }) => name === 'verdict')?.text ?? null;
  return jsonDocument('explanation', {
    request: { method, target, as: as ?? null, ...(token !== undefined && { token }) },
    verdict,
    steps,
  });
}
