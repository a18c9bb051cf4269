import { didYouMean } from '../../lib/closest-name.ts';
import { EXIT, UsageError, type Flag } from '../../lib/command.ts';
import type { ProgramCommand } from '../program.ts';

/**
 * Creates the `portico completion` command, which prints a shell completion script. The script is generated from the
 * commands that `loadCommands` returns.
 */
export function createCompletionCommand(loadCommands: () => Promise<readonly ProgramCommand[]>): ProgramCommand {
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
        const hint = didYouMean(name, SHELLS);
        throw new UsageError(`completion: "${name}" must be one of ${SHELLS.join(', ')}${hint}`);
      }
      io.out(completionScript(shell, await loadCommands()));
      return EXIT.ok;
    },
  };
}

const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** Returns a script that lets a shell complete the program's commands and flags. */
function completionScript(shell: (typeof SHELLS)[number], commands: readonly ProgramCommand[]): string {
  const all = [...commands.map(withHelp), helpCommand(commands)];
  if (shell === 'bash') return bashScript(all);
  return shell === 'zsh' ? zshScript(all) : fishScript(all);
}

/** The parts of a command that a completion script uses. */
type Completed = Pick<ProgramCommand, 'name' | 'summary' | 'flags' | 'argChoices'>;

const withHelp = ({ name, summary, flags, argChoices }: ProgramCommand): Completed => ({
  name,
  summary,
  flags: [...flags, { name: 'help', help: 'Show this help.' }],
  ...(argChoices && { argChoices }),
});

const helpCommand = (commands: readonly ProgramCommand[]): Completed => ({
  name: 'help',
  summary: 'Show the help of a command',
  flags: [],
  argChoices: commands.map(({ name }) => name),
});

/** The placeholders for flag values that are files or folders. */
const FILES: ReadonlySet<string> = new Set(['FILE', 'FOLDER', 'PATH']);
const isFile = ({ value = '' }: Flag) => FILES.has(value);

function bashScript(commands: readonly Completed[]): string {
  const valueCases = commands.flatMap(({ name, flags }) => {
    const named = (found: readonly Flag[]) => found.map((flag) => `'${name} --${flag.name}'`).join('|');
    const withChoices = flags.filter(({ choices }) => choices !== undefined);
    const files = flags.filter((flag) => flag.choices === undefined && isFile(flag));
    const others = flags.filter((flag) => flag.value !== undefined && flag.choices === undefined && !isFile(flag));
    return [
      ...withChoices.map((flag) => `    ${named([flag])}) words='${(flag.choices ?? []).join(' ')}' ;;`),
      ...(files.length === 0 ? [] : [`    ${named(files)}) _portico_files; return ;;`]),
      ...(others.length === 0 ? [] : [`    ${named(others)}) return ;;`]),
    ];
  });
  const wordCases = commands.map(({ name, flags, argChoices = [] }) => {
    const words = [...argChoices, ...flags.map((flag) => `--${flag.name}`)];
    return `      ${name}) words='${words.join(' ')}' ;;`;
  });
  return `# Completes portico in bash. Load it with: source <(portico completion bash)
_portico_files() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null || true
  COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
_portico() {
  local current="\${COMP_WORDS[COMP_CWORD]}" command="\${COMP_WORDS[1]}" words=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${commands.map(({ name }) => name).join(' ')} --help --version' -- "$current"))
    return
  fi
  case "$command \${COMP_WORDS[COMP_CWORD-1]}" in
${valueCases.join('\n')}
    *) case "$command" in
${wordCases.join('\n')}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _portico portico`;
}

const zshText = (words: string) => words.replaceAll("'", "'\\''");
// In an `_arguments` specification, these characters end the description.
const zshDescription = (words: string) => zshText(words.replaceAll(/[[\]:\\]/g, String.raw`\$&`));
const zshValue = (flag: Flag) => {
  if (flag.value === undefined) return '';
  const action = flag.choices === undefined ? (isFile(flag) ? '_files' : ' ') : `(${flag.choices.join(' ')})`;
  return `:${flag.value}:${action}`;
};

function zshScript(commands: readonly Completed[]): string {
  const cases = commands.map(({ name, flags, argChoices }) => {
    const specs = flags.map(
      (flag) => `'${flag.multiple === true ? '*' : ''}--${flag.name}[${zshDescription(flag.help)}]${zshValue(flag)}'`,
    );
    const args = argChoices === undefined ? [] : [`'1:argument:(${argChoices.join(' ')})'`];
    return `    ${name}) _arguments ${[...args, ...specs].join(' \\\n      ')} ;;`;
  });
  return `#compdef portico
# Completes portico in zsh. Load it with: source <(portico completion zsh)
_portico() {
  local -a commands
  commands=(
${commands.map(({ name, summary }) => `    '${name}:${zshText(summary)}'`).join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = _portico ]; then _portico "$@"; else compdef _portico portico; fi`;
}

const fishText = (words: string) => `'${words.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`;
const fishValue = (flag: Flag) => {
  if (flag.value === undefined) return '';
  if (flag.choices !== undefined) return ` -x -a ${fishText(flag.choices.join(' '))}`;
  return isFile(flag) ? ' -r -F' : ' -x';
};

function fishScript(commands: readonly Completed[]): string {
  const lines = commands.flatMap(({ name, summary, flags, argChoices }) => {
    const used = `-n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c portico -n __fish_use_subcommand -a ${name} -d ${fishText(summary)}`,
      ...(argChoices === undefined ? [] : [`complete -c portico ${used} -a ${fishText(argChoices.join(' '))}`]),
      ...flags.map((flag) => `complete -c portico ${used} -l ${flag.name}${fishValue(flag)} -d ${fishText(flag.help)}`),
    ];
  });
  return [
    '# Completes portico in fish. Load it with: portico completion fish | source',
    'complete -c portico -f',
    ...lines,
  ].join('\n');
}
