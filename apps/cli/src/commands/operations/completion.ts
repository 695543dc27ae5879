import { Argument, type Command, type Option } from 'commander';

import { connect } from '../../connection/connection.ts';
import { listDevices, listProjects } from '../../launch/find-by-name.ts';

/** `phalanx completion`: prints scripts with which shells complete commands, options, phones and projects. */
export function addCompletionCommand(program: Command): void {
  const completion = program
    .command('completion')
    .description('print a shell completion script')
    .addHelpText(
      'after',
      `
Examples:
  source <(phalanx completion bash)          # in ~/.bashrc
  source <(phalanx completion zsh)           # in ~/.zshrc, after compinit
  phalanx completion fish > ~/.config/fish/completions/phalanx.fish`,
    );
  for (const [shell, script] of Object.entries(completionScripts))
    completion
      .command(shell)
      .description(`print the script for ${shell}`)
      .action(() => void process.stdout.write(script));
  completion
    .command('words', { hidden: true })
    .description('print the completions of the last word')
    .addArgument(new Argument('[words...]'))
    .action(async (words: readonly string[]) => {
      for (const word of await complete(program, words, serverNames)) console.log(word);
    });
}

/** Names from the server. Empty without a login or a server. */
const serverNames: Names = { list: (kind) => readNames(kind).catch(() => []) };

async function readNames(kind: NameKind): Promise<string[]> {
  const { api } = await connect({});
  if (kind === 'device') return (await listDevices(api)).map(({ serial }) => serial);
  return (await listProjects(api)).map(({ name }) => name);
}

/** Kinds of names from the server that are completed on a command line. */
type NameKind = 'device' | 'project';

interface Names {
  list(kind: NameKind): Promise<readonly string[]>;
}

const kinds: Readonly<Record<string, NameKind>> = {
  device: 'device',
  project: 'project',
  automation: 'project',
};

/** Position of the last word of a command line. */
interface Place {
  readonly command: Command;
  /** Option whose value the word is, if any. */
  readonly option: Option | undefined;
  /** Number of the command's arguments before the word. */
  readonly argumentCount: number;
}

/** Returns the completions of the last word, which may be empty. */
async function complete(program: Command, words: readonly string[], names: Names): Promise<string[]> {
  const begun = words.at(-1) ?? '';
  const candidates = await candidatesAt(findPlace(program, words.slice(0, -1)), begun, names);
  return candidates.filter((candidate) => candidate.startsWith(begun)).sort();
}

function findPlace(program: Command, words: readonly string[]): Place {
  let place: Place = { command: program, option: undefined, argumentCount: 0 };
  for (const word of words) place = placeAfter(place, word);
  return place;
}

function placeAfter({ command, option, argumentCount }: Place, word: string): Place {
  if (option !== undefined) return { command, option: undefined, argumentCount };
  if (word.startsWith('-')) {
    const given = command.options.find(({ long, short }) => word === long || word === short);
    return { command, option: given?.required === true ? given : undefined, argumentCount };
  }
  const sub = command.commands.find((one) => one.name() === word);
  return sub === undefined
    ? { command, option, argumentCount: argumentCount + 1 }
    : { command: sub, option, argumentCount: 0 };
}

async function candidatesAt(
  { command, option, argumentCount }: Place,
  begun: string,
  names: Names,
): Promise<readonly string[]> {
  if (option !== undefined) return option.argChoices ?? namesOf(option.attributeName(), names);
  if (begun.startsWith('-'))
    return command.options.flatMap(({ long, hidden }) => (long && !hidden ? [long] : []));
  if (command.commands.length > 0) return command.commands.map((one) => one.name());
  const argument = command.registeredArguments[argumentCount] ?? command.registeredArguments.at(-1);
  return argument === undefined ? [] : (argument.argChoices ?? namesOf(argument.name(), names));
}

async function namesOf(name: string, names: Names): Promise<readonly string[]> {
  const kind = kinds[name];
  return kind === undefined ? [] : names.list(kind);
}

/** Shell scripts. Each asks `phalanx completion words`, so none gets outdated. Without an answer they offer files. */
const completionScripts = {
  bash: `_phalanx() {
  local IFS=$'\\n'
  COMPREPLY=($(phalanx completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  COMPREPLY=("\${COMPREPLY[@]// /\\\\ }")
}
complete -o default -F _phalanx phalanx
`,
  zsh: `#compdef phalanx
_phalanx() {
  local -a found
  found=("\${(@f)$(phalanx completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -a found; else _files; fi
}
compdef _phalanx phalanx
`,
  fish: `complete -c phalanx -a '(phalanx completion words -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
} as const;
