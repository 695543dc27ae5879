import type { Command, Option } from 'commander';

/** What stands for a phone or a project on a command line; the server knows them. */
export type NameKind = 'device' | 'project';

export interface Names {
  list(kind: NameKind): Promise<readonly string[]>;
}

const kinds: Readonly<Record<string, NameKind>> = {
  device: 'device',
  project: 'project',
  automation: 'project',
};

/** Where the last word of a command line stands. */
interface Place {
  readonly command: Command;
  /** The option whose value it is. */
  readonly option: Option | undefined;
  /** How many arguments of the command stand before it. */
  readonly argumentCount: number;
}

/** What may stand for the last of `words`, which may be empty or begun. */
export async function complete(program: Command, words: readonly string[], names: Names): Promise<string[]> {
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
