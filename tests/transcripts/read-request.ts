import { allRoutes } from '@phalanx/protocol';

import type { StepDetails } from './step.ts';

/** Step as a request. */
export interface PlayedRequest {
  readonly caller: string;
  /** Operation; undefined if no contract describes the request. */
  readonly operation: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly details: StepDetails;
}

/** Parses the line of a step and replaces its `$names` by `valueOf`. */
export function readRequest(
  line: string,
  given: StepDetails,
  valueOf: (name: string) => string,
): PlayedRequest {
  const [, words = '', queryText = ''] = /^(.*?)(?: \?(.*))?$/.exec(line) ?? [];
  const [caller = '', what = '', ...parameters] = words.split(' ').map((word) => filled(word, valueOf));
  const query = new URLSearchParams(filled(queryText, valueOf)).toString();
  const end = query === '' ? '' : `?${query}`;
  const details = filled(given, valueOf);
  const contract = allRoutes.find(({ operationId }) => operationId === what);
  const [first = ''] = parameters;
  if (contract === undefined) {
    if (!/^[A-Z]+$/.test(what)) throw new Error(`there is no operation ${what}`);
    return { caller, operation: undefined, method: what, path: `${first}${end}`, details };
  }
  const { method, operationId: operation } = contract;
  const path = contract.path.replaceAll(/:\w+/g, () => encodeURIComponent(parameters.shift() ?? ''));
  // Full URL, as in replies.
  const isAddress = first.startsWith('http');
  return { caller, operation, method, path: isAddress ? pathOf(first) : `${path}${end}`, details };
}

function pathOf(address: string): string {
  const { pathname, search } = new URL(address);
  return `${pathname}${search}`;
}

function filled<Value>(value: Value, valueOf: (name: string) => string): Value;
function filled(value: unknown, valueOf: (name: string) => string): unknown {
  if (typeof value === 'string') return value.replaceAll(/\$(\w+)/g, (_, name: string) => valueOf(name));
  if (Array.isArray(value)) return value.map((one: unknown) => filled(one, valueOf));
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filled(one, valueOf)]));
}
