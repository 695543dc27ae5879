import { formatWithOptions, inspect } from 'node-inspect-extracted';

import { stackAbove, userPosition, withoutPrelude } from '../caller-stack.ts';
import { formatTable } from './console-table.ts';
import type { Port } from './port.ts';

type Level = 'log' | 'warn' | 'error';
/** In UTF-16 units, with the mark. */
const maxMessageLength = 64 * 1024;

/** A `console` that prints what Node's would print, one log entry a call. */
export function createConsole(port: Port): Console {
  const state = { indent: '', counts: new Map<string, number>(), timers: new Map<string, number>() };

  const write = (level: Level, text: string, at: string): void =>
    port.block('log', { level, message: cut(indented(text, state.indent)), at });
  const print = (level: Level, text: string): void => write(level, text, userPosition(stackAbove(print)));
  const now = (): number => Number(port.ask('now', {}));
  const writer =
    (level: Level) =>
    (...args: unknown[]): void =>
      print(level, formatWithOptions({}, ...args));
  const elapsed = (label: string, name: string): string | undefined => {
    const startedAt = state.timers.get(label);
    if (startedAt !== undefined) return duration(now() - startedAt);
    print('warn', `Warning: No such label '${label}' for console.${name}()`);
    return undefined;
  };

  const group = (...args: unknown[]): void => {
    if (args.length > 0) print('log', formatWithOptions({}, ...args));
    state.indent += '  ';
  };

  return {
    log: writer('log'),
    info: writer('log'),
    debug: writer('log'),
    warn: writer('warn'),
    error: writer('error'),
    dir: (value, options) => print('log', inspect(value, { customInspect: false, ...options })),
    dirxml: writer('log'),
    assert(condition, ...args) {
      if (condition) return;
      const [first, ...rest] = args;
      if (typeof first === 'string')
        print('warn', formatWithOptions({}, `Assertion failed: ${first}`, ...rest));
      else print('warn', formatWithOptions({}, 'Assertion failed', ...args));
    },
    trace(...args) {
      const stack = withoutPrelude(stackAbove(stackAbove)).split('\n').slice(1).join('\n');
      const text = formatWithOptions({}, ...args);
      print('error', `Trace${text === '' ? '' : `: ${text}`}\n${stack}`);
    },
    table: (data, columns) => print('log', formatTable(data, columns) ?? formatWithOptions({}, data)),
    count(label = 'default') {
      const count = (state.counts.get(String(label)) ?? 0) + 1;
      state.counts.set(String(label), count);
      print('log', `${label}: ${count}`);
    },
    countReset(label = 'default') {
      if (state.counts.delete(String(label))) return;
      print('warn', `Warning: Count for '${label}' does not exist`);
    },
    time(label = 'default') {
      if (!state.timers.has(String(label))) state.timers.set(String(label), now());
      else print('warn', `Warning: Label '${label}' already exists for console.time()`);
    },
    timeLog(label = 'default', ...args) {
      const time = elapsed(String(label), 'timeLog');
      if (time !== undefined) print('log', formatWithOptions({}, `${label}: ${time}`, ...args));
    },
    timeEnd(label = 'default') {
      const time = elapsed(String(label), 'timeEnd');
      if (time !== undefined) print('log', `${label}: ${time}`);
      state.timers.delete(String(label));
    },
    group,
    groupCollapsed: group,
    groupEnd() {
      state.indent = state.indent.slice(2);
    },
  };
}

function indented(text: string, indent: string): string {
  return indent === '' ? text : indent + text.replaceAll('\n', `\n${indent}`);
}

function cut(text: string): string {
  if (text.length <= maxMessageLength) return text;
  const mark = `… [cut: the message had ${text.length} characters, ${maxMessageLength} is the limit]`;
  return text.slice(0, maxMessageLength - mark.length) + mark;
}

/** As Node prints the time of `console.timeEnd`. */
function duration(ms: number): string {
  if (ms < 1000) return `${Number(ms.toFixed(3))}ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(3)}s`;
  const seconds = ((ms / 1000) % 60).toFixed(3).padStart(6, '0');
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes}:${seconds} (m:ss.mmm)`;
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}:${seconds} (h:mm:ss.mmm)`;
}
