import { userPosition } from '../caller-stack.ts';
import { inspect } from './node/node-library.ts';
import type { Port } from './port.ts';

/** Calls `code`; what it throws ends the run. */
export function guarded(port: Port, code: () => void): void {
  try {
    code();
  } catch (error) {
    reportUncaught(port, error);
  }
}

/** Runs the user's script to the end of its promise. */
export async function runMain(port: Port, script: () => Promise<void>): Promise<void> {
  try {
    await script();
    port.ask('mainSettled', {});
  } catch (error) {
    reportUncaught(port, error);
  }
}

export function reportUncaught(port: Port, error: unknown): void {
  const stack = stackOf(error);
  port.ask('uncaught', {
    message: messageOf(error),
    text: `Uncaught ${textOf(error)}`,
    at: userPosition(stack),
  });
}

/** The getters of a thrown value are user code and may throw again. */
function safely(read: () => string, fallback: string): string {
  try {
    return read();
  } catch {
    return fallback;
  }
}

const stackOf = (error: unknown): string =>
  safely(() => (error instanceof Error ? String(error.stack) : ''), '');

const textOf = (error: unknown): string =>
  safely(() => inspect(error).slice(0, 64 * 1024), 'a value that cannot be shown');

const messageOf = (error: unknown): string =>
  safely(
    () => (error instanceof Error ? `${error.name}: ${error.message}` : inspect(error)).slice(0, 4000),
    'a value that cannot be shown',
  );
