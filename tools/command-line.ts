import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';

/**
 * Parses the command line of a tool, which may contain the given options, `--help` and at most `maxWords` other words.
 * Ends the process if the command line contains `--help` or is not valid.
 */
export function readCommandLine<const T extends ParseArgsOptionsConfig>(help: string, options: T, maxWords = 0) {
  const { values, positionals: words } = parsed(options);
  if ('help' in values) {
    console.log(help);
    process.exit(0);
  }
  const extra = words[maxWords];
  return extra === undefined ? { values, words } : wrongUsage(`Unexpected argument '${extra}'`);
}

function parsed<const T extends ParseArgsOptionsConfig>(options: T) {
  try {
    return parseArgs({ options: { ...options, help: { type: 'boolean' } }, allowPositionals: true });
  } catch (error) {
    // Node's message also explains how to pass a word that begins with a dash, which no tool needs.
    const [message = ''] = (error as Error).message.split('. ');
    return wrongUsage(message);
  }
}

/** Prints a message and ends the process with the exit code for a command line that is not valid. */
export function wrongUsage(message: string): never {
  console.error(`${message}\nUse --help to list the options.`);
  process.exit(2);
}
