import { METHODS } from 'node:http';
import { closestName } from '../../lib/closest-name.ts';
import { type Command, EXIT, UsageError } from '../command.ts';
import { CONFIG_FLAGS, settingsFrom } from '../config-flags.ts';
import { withAssembly } from '../config-flags.ts';

/** `portico explain`: what would happen to a request, by the code of the live path and without the upstream. */
export const explainCommand: Command = {
  name: 'explain',
  summary: 'Say what would happen to a request, without calling the upstream',
  words: '[METHOD] TARGET',
  wordCount: [1, 2],
  flags: [...CONFIG_FLAGS, { name: 'as', value: 'ACCOUNT', help: 'Who is asking; without it, nobody (anonymous).' }],
  notes: ["Example: portico explain GET '/services/v2/question.json?page=2' --as alice"],
  run: async (line, io) => {
    const [method, target] = line.words.length === 1 ? ['GET', line.words[0] ?? ''] : line.words;
    const request = { method: methodOf(method ?? ''), target: targetOf(target ?? '') };
    const as = line.last('as');
    const lines = await withAssembly(await settingsFrom(line, io), (assembly) =>
      assembly.explain(as === undefined ? request : { ...request, as }),
    );
    lines.forEach(io.out);
    return EXIT.ok;
  },
};

function methodOf(text: string): string {
  const method = text.toUpperCase();
  if (METHODS.includes(method)) return method;
  const near = closestName(method, METHODS);
  throw new UsageError(`"${text}" is not a method${near === undefined ? '' : `; did you mean ${near}?`}`);
}

// A whole address, as copied from somewhere, is as good as its path.
function targetOf(text: string): string {
  const target = /^https?:\/\/[^/?#]+(?<rest>.*)$/s.exec(text)?.groups?.['rest'] ?? text;
  if (target.startsWith('/')) return target;
  throw new UsageError(`"${text}" is not a target; it begins with a slash: /services/v2/question.json`);
}
