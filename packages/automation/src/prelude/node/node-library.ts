/** Node's own console: source files of the Node version that runs the host, on top of the isolate's facilities. */
import { nodeSources } from 'node-sources';
import { primordials } from './primordials.ts';
import { utilBinding, valueTypes } from './util-binding.ts';

const {
  ErrorIsError,
  FunctionPrototypeSymbolHasInstance,
  NumberPrototypeToString,
  StringPrototypePadStart,
  TypedArrayPrototypeGetLength,
} = primordials;
const BuiltInError = Error;
const noop = (): void => {};

interface Stream {
  write: (text: string) => void;
}
export interface ConsoleStreams {
  stdout: Stream;
  stderr: Stream;
  ignoreErrors: boolean;
  colorMode: boolean;
}
export type NodeConsole = Record<string, ((...args: unknown[]) => void) | undefined>;

/** Part of `process` that Node's console uses; the sandbox's console sets its members. */
export const nodeProcess = {
  hrtime: (_since?: [number, number]): [number, number] => [0, 0],
  emitWarning: (_text: string): void => {},
};

/** Class of URLs, a polyfill that may be loaded later. */
export const nodeUrl: { URL: unknown } = { URL: Error };

const bindings: Record<string, unknown> = {
  __proto__: null,
  config: { hasIntl: false },
  trace_events: { trace: noop },
  util: utilBinding,
};

/** Stubs for the modules that Node's files require and that are not bundled, reduced to the used parts. */
const modules: Record<string, unknown> = {
  __proto__: null,
  buffer: { Buffer: { isBuffer: () => false, prototype: { hexSlice } } },
  diagnostics_channel: { channel: () => ({ hasSubscribers: false }) },
  'internal/assert': noop,
  'internal/bootstrap/realm': { BuiltinModule: { exists: () => false } },
  'internal/constants': {},
  'internal/errors': { codes: {}, isStackOverflowError },
  'internal/url': nodeUrl,
  'internal/util': {
    assignFunctionName: (_name: unknown, named: unknown) => named,
    customInspectSymbol: Symbol.for('nodejs.util.inspect.custom'),
    isError: (value: unknown) =>
      ErrorIsError(value) || FunctionPrototypeSymbolHasInstance(BuiltInError, value),
    join: joined,
  },
  'internal/util/types': valueTypes,
  'internal/validators': {
    validateArray,
    validateInteger: noop,
    validateObject: noop,
    validateOneOf: noop,
    validateString: noop,
  },
};

function load(name: string): unknown {
  const source = nodeSources[name];
  if (modules[name] === undefined && source !== undefined) {
    const module = { exports: {} };
    source(module.exports, load, module, nodeProcess, (binding) => bindings[binding], primordials);
    modules[name] = module.exports;
  }
  return modules[name];
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as Node's file exports it
export const { inspect } = load('internal/util/inspect') as {
  inspect: (value: unknown, options?: object) => string;
};
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as Node's file exports it
export const { Console } = load('internal/console/constructor') as {
  Console: new (options: ConsoleStreams) => NodeConsole;
};
load('internal/cli_table');

function hexSlice(this: Uint8Array, start: number, end: number): string {
  let text = '';
  for (let index = start; index < end && index < TypedArrayPrototypeGetLength(this); index += 1)
    text += StringPrototypePadStart(NumberPrototypeToString(this[index] ?? 0, 16), 2, '0');
  return text;
}

function joined(parts: string[], separator: string): string {
  let text = '';
  for (let index = 0; index < parts.length; index += 1) text += (index === 0 ? '' : separator) + parts[index];
  return text;
}

function isStackOverflowError(error: unknown): boolean {
  return error instanceof RangeError && error.message === 'Maximum call stack size exceeded';
}

function validateArray(value: unknown, name: string): void {
  if (!Array.isArray(value)) throw new TypeError(`The "${name}" argument must be an instance of Array.`);
}
