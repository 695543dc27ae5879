import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Type, type Static, type TSchema } from 'typebox';
import { Value } from 'typebox/value';

const Reply = Type.Object({
  id: Type.Integer(),
  result: Type.Optional(Type.Unknown()),
  error: Type.Optional(Type.String()),
});

/** File of `processes/` that runs in a separate process and performs commands. */
export interface BenchProcess {
  /** Calls a command. Rejects with the error that the process has thrown. */
  call<Result extends TSchema>(command: string, input: object, result: Result): Promise<Static<Result>>;
  /** Returns the processor time since its start, in ms. */
  cpuMs(): Promise<number>;
  /** Resolves when the process has ended. */
  close(): Promise<void>;
}

const startTimeoutMs = 20_000;

/** Starts a process. `name` is that of a file in `processes/`, without `.ts`. Resolves when the process responds. */
export async function startBenchProcess(name: string, nodeFlags: readonly string[]): Promise<BenchProcess> {
  const file = fileURLToPath(new URL(`../processes/${name}.ts`, import.meta.url));
  const child = fork(file, { execArgv: [...nodeFlags], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  child.on('message', (message) => settle(waiting, message));
  const fail = (error: Error): void => {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  child.on('error', fail);
  const exited = once(child, 'exit').then(() => fail(new Error(`the process ${name} has ended`)));
  await once(child, 'spawn', { signal: AbortSignal.timeout(startTimeoutMs) });
  let lastId = 0;
  const call: BenchProcess['call'] = async (command, input, result) => {
    lastId += 1;
    const answer = Promise.withResolvers<unknown>();
    waiting.set(lastId, answer);
    child.send({ id: lastId, command, input }, (error) => error && answer.reject(error));
    return Value.Parse(result, await answer.promise);
  };
  return {
    call,
    cpuMs: () => call('cpuMs', {}, Type.Number()),
    close: () => end(child, exited),
  };
}

function settle(waiting: Map<number, PromiseWithResolvers<unknown>>, message: unknown): void {
  const { id, result, error } = Value.Parse(Reply, message);
  const answer = waiting.get(id);
  waiting.delete(id);
  if (error === undefined) answer?.resolve(result);
  else answer?.reject(new Error(error));
}

/** Disconnects the process, which then ends by itself. */
async function end(child: ChildProcess, exited: Promise<void>): Promise<void> {
  if (child.connected) child.disconnect();
  await exited;
}
