import type { Command, CommandUnknownOpts, OptionValues } from '@commander-js/extra-typings';
import type { Command as PlainCommand } from 'commander';
import { addConnectionOptions, connect, type Connection, type ConnectionFlags } from './connection.ts';

/** Flags of every command that calls a server. */
export interface ServerFlags extends ConnectionFlags {
  json?: true;
}

interface ServerCommandParts<Args extends unknown[], Flags extends OptionValues, Prepared extends object> {
  /** Description for the help. */
  readonly about: string;
  /**
   * Adds the arguments and options. Their types are those of `check`, `prepare` and `run`, if its parameter has a type.
   * Default: none.
   */
  readonly build?: (command: Command) => Command<Args, Flags>;
  /** Description of `--json`. False: the command has no such option. Default: it prints the reply of the API. */
  readonly json?: string | false;
  /** Text after the help, such as examples. */
  readonly help?: string;
  /** Throws a usage error for flags that do not fit together, before the connection. */
  readonly check?: (flags: Flags & ServerFlags, ...args: Args) => void;
  /** Does work before the connection, such as reading files. `run` gets its result among the flags. */
  readonly prepare?: (flags: Flags & ServerFlags, ...args: Args) => Promise<Prepared>;
  readonly run: (
    connection: Connection,
    flags: Flags & ServerFlags & Prepared,
    ...args: Args
  ) => Promise<void>;
}

/** Flags of the options that a function adds to a command. */
export type OptionsOf<Build extends (command: Command) => CommandUnknownOpts> = ReturnType<
  ReturnType<Build>['opts']
>;

/** Declares a command that calls a server, with the options for its connection. Returns it, for its subcommands. */
export function serverCommand<
  Args extends unknown[] = [],
  Flags extends OptionValues = {},
  Prepared extends object = {},
>(parent: PlainCommand, name: string, parts: ServerCommandParts<Args, Flags, Prepared>): PlainCommand {
  const { about, build, json = "print the API's reply", help, check, prepare, run } = parts;
  const command = parent.command(name).description(about);
  // Commander's class, with types that know its arguments and options: a new command has none.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  build?.(command as unknown as Command);
  if (json !== false) command.option('--json', json);
  addConnectionOptions(command);
  if (help !== undefined) command.addHelpText('after', `\n${help}`);
  return command.action(async (...given: unknown[]) => {
    // Commander gives the arguments, the flags and the command; `build` has told their types.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const args = given.slice(0, -2) as Args;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const flags = given.at(-2) as Flags & ServerFlags;
    check?.(flags, ...args);
    // `Prepared` is empty if nothing prepares.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const prepared = (await prepare?.(flags, ...args)) as Prepared;
    await run(await connect(flags), { ...flags, ...prepared }, ...args);
  });
}
