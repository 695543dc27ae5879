import { constants, setPriority } from 'node:os';
import { Type, type Static, type TSchema } from 'typebox';
import { Value } from 'typebox/value';

import { cpuMsOfAll } from './cpu-of-all.ts';
import { memoryInUse } from './memory-in-use.ts';

const Request = Type.Object({ id: Type.Integer(), command: Type.String(), input: Type.Unknown() });

/** Command whose input comes from another process, so it checks the input. */
export type Command = (input: unknown) => unknown;

export function command<Input extends TSchema>(
  input: Input,
  run: (input: Static<Input>) => unknown,
): Command {
  return (value) => run(Value.Parse(input, value));
}

const builtIn: Readonly<Record<string, Command>> = {
  cpuMs: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  /** Includes all processes that it has started. */
  cpuMsOfAll: () => cpuMsOfAll(process.pid),
  memory: () => memoryInUse(),
  pid: () => process.pid,
  /** Lowers the priority of work that would happen on another machine. */
  lowerPriority: () => setPriority(constants.priority.PRIORITY_LOW),
};

/** Performs the commands of the process that forked this one, and ends with it. */
export function answerParent(commands: Readonly<Record<string, Command>>): void {
  const answer = async (message: unknown): Promise<void> => {
    const { id, command: name, input } = Value.Parse(Request, message);
    try {
      const run = commands[name] ?? builtIn[name];
      if (run === undefined) throw new Error(`there is no command ${name}`);
      process.send?.({ id, result: (await run(input)) ?? null });
    } catch (error) {
      process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  };
  process.on('message', (message) => void answer(message));
  process.on('disconnect', () => process.exit(0));
}
