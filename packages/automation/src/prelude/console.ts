import { stackAbove, userPosition } from '../caller-stack.ts';
import { Console as NodeConsole, nodeProcess } from './node/node-library.ts';
import { primordials } from './node/primordials.ts';
import type { Port } from './port.ts';

const { ReflectApply, StringPrototypeCharCodeAt, StringPrototypeSlice } = primordials;
const { trunc } = Math;

type Level = 'log' | 'warn' | 'error';
/** Maximum length of a message in UTF-16 units, including the truncation mark. */
const maxMessageLength = 64 * 1024;

/** Levels of methods that print to stderr; all others print at level `log`. */
const stderrLevels: Record<keyof Console, Level> = {
  log: 'log',
  info: 'log',
  debug: 'log',
  warn: 'warn',
  error: 'error',
  dir: 'log',
  dirxml: 'log',
  table: 'log',
  trace: 'error',
  assert: 'warn',
  count: 'log',
  countReset: 'warn',
  group: 'log',
  groupCollapsed: 'log',
  groupEnd: 'log',
  clear: 'log',
  time: 'warn',
  timeLog: 'warn',
  timeEnd: 'warn',
};

/**
 * Creates a `console` that prints what Node's would, as one log entry per call: it is Node's console with the log as
 * its streams.
 */
export function createConsole(port: Port): Console {
  let called: { method: () => void; stderrLevel: Level } | undefined;
  const print = (level: Level, text: string): void => {
    const at = called === undefined ? '' : userPosition(stackAbove(called.method));
    port.block('log', level, cut(text), at);
  };
  const warn = (text: string): void => print(called?.stderrLevel ?? 'warn', text);
  nodeProcess.emitWarning = (text) => warn(`Warning: ${text}`);
  nodeProcess.hrtime = (since) => {
    const ms = Number(port.ask('now', {})) - (since?.[0] ?? 0) * 1000 - (since?.[1] ?? 0) / 1e6;
    return [trunc(ms / 1000), (ms % 1000) * 1e6];
  };
  // Node terminates each write with a line break.
  const stream = (write: (text: string) => void) => ({
    write: (line: string): void => write(StringPrototypeSlice(line, 0, -1)),
  });
  const node = new NodeConsole({
    stdout: stream((text) => print('log', text)),
    stderr: stream(warn),
    ignoreErrors: false,
    colorMode: false,
  });

  const methodOf = (name: string, stderrLevel: Level): ((...args: unknown[]) => void) => {
    const run = node[name];
    const method = (...args: unknown[]): void => {
      const outer = called;
      called = { method, stderrLevel };
      try {
        ReflectApply(run, node, args);
      } finally {
        called = outer;
      }
    };
    return Object.defineProperty(method, 'name', { value: name });
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a method for each name
  return Object.fromEntries(
    Object.entries(stderrLevels).map(([name, level]) => [name, methodOf(name, level)]),
  ) as unknown as Console;
}

/** Cuts a text without splitting a surrogate pair. */
function cut(text: string): string {
  if (text.length <= maxMessageLength) return text;
  const mark = `… [cut: the message had ${text.length} characters, ${maxMessageLength} is the limit]`;
  const end = maxMessageLength - mark.length;
  const last = StringPrototypeCharCodeAt(text, end - 1);
  return StringPrototypeSlice(text, 0, last >= 0xd800 && last <= 0xdbff ? end - 1 : end) + mark;
}
