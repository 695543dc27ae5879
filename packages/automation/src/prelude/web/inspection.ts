import { inspect, nodeUrl } from '../node/node-library.ts';
import { ByteStream } from './byte-stream.ts';
import { writtenHeaders, type PlainHeaders } from './headers.ts';

const customInspect = Symbol.for('nodejs.util.inspect.custom');
const urlParts = [
  'href',
  'origin',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'searchParams',
  'hash',
] as const;

const eventParts = ['type', 'defaultPrevented', 'cancelable', 'timeStamp'] as const;

/** Makes the console print these classes like Node's own, which keep their visible values in getters. */
export function showWebValues(): void {
  nodeUrl.URL = URL;
  showParts('URL', urlParts);
  showParts('AbortSignal', ['aborted']);
  showParts('AbortController', ['signal']);
  showParts('Blob', ['size', 'type']);
  showParts('File', ['size', 'type', 'name', 'lastModified']);
  showParts('Event', eventParts);
  showParts('CustomEvent', eventParts);
  showParts('Request', ['method', 'url', 'headers', 'redirect', 'signal', 'bodyUsed']);
  showParts('Response', [
    'status',
    'statusText',
    'headers',
    'body',
    'bodyUsed',
    'ok',
    'redirected',
    'type',
    'url',
  ]);
  showOf(
    ByteStream,
    ({ locked, state }: ByteStream, options) =>
      `ReadableStream ${inspect({ locked, state, supportsBYOB: true }, options)}`,
  );
  show('FormData', (form: FormData, options) => {
    const values: Record<string, unknown> = {};
    for (const name of new Set(form.keys())) {
      const all = form.getAll(name);
      values[name] = all.length === 1 ? all[0] : all;
    }
    return `FormData ${inspect(values, options)}`;
  });
  show(
    'Headers',
    (headers: PlainHeaders, options) =>
      `Headers ${inspect(Object.fromEntries(writtenHeaders(headers)), options)}`,
  );
  show('URLSearchParams', (params: URLSearchParams, options) => {
    const pairs: string[] = [];
    params.forEach((value, name) => pairs.push(`${inspect(name, options)} => ${inspect(value, options)}`));
    return pairs.length === 0 ? 'URLSearchParams {}' : `URLSearchParams { ${pairs.join(', ')} }`;
  });
}

function showParts(name: string, parts: readonly string[]): void {
  show(name, (value: Record<string, unknown>, options) => {
    const shown = Object.fromEntries(parts.map((part) => [part, value[part]]));
    return `${name} ${inspect(shown, options)}`;
  });
}

function show(name: string, textOf: (value: never, options: object) => string): void {
  const type: unknown = Reflect.get(globalThis, name);
  if (typeof type !== 'function') throw new TypeError(`There is no ${name} to show.`);
  showOf(type, textOf);
}

function showOf(type: { prototype: unknown }, textOf: (value: never, options: object) => string): void {
  Object.defineProperty(type.prototype, customInspect, {
    value(this: never, depth: number | null, options: object) {
      return depth !== null && depth < 0 ? this : textOf(this, options);
    },
    configurable: true,
    writable: true,
  });
}
