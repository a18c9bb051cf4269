import { closestName } from '../../lib/closest-name.ts';
import { type Command, EXIT, UsageError } from '../command.ts';
import { completionScript, SHELLS } from '../terminal/completion-scripts.ts';

/**
 * Creates the command `portico completion`, which prints a completion script. The script is generated from the command
 * table, which `loadCommands` returns.
 */
export function createCompletionCommand(loadCommands: () => Promise<readonly Command[]>): Command {
  return {
    name: 'completion',
    summary: 'Print a shell script that completes commands and flags in bash, zsh or fish',
    args: 'SHELL',
    argCount: [1, 1],
    argChoices: SHELLS,
    flags: [],
    notes: [
      'bash, in ~/.bashrc: source <(portico completion bash)',
      'zsh, in ~/.zshrc after compinit: source <(portico completion zsh)',
      'fish: portico completion fish > ~/.config/fish/completions/portico.fish',
    ],
    run: async (line, io) => {
      const [name = ''] = line.args;
      const shell = SHELLS.find((one) => one === name);
      if (shell === undefined) {
        const near = closestName(name, SHELLS);
        const hint = near === undefined ? '' : `; did you mean ${near}?`;
        throw new UsageError(`completion: "${name}" must be one of ${SHELLS.join(', ')}${hint}`);
      }
      io.out(completionScript(shell, await loadCommands()));
      return EXIT.ok;
    },
  };
}
