/**
 * The single way out of the isolate. Only strings and numbers cross it, and only this closure holds the two functions
 * behind it, so that user code that patches prototypes never gets hold of them.
 */
import type { StepBegin, StepEnd } from '@phalanx/protocol';

/** HTTP request for the child to make. Its body crosses separately as a byte string. */
export interface FetchOrder {
  id: number;
  url: string;
  method: string;
  headers: [name: string, value: string][];
  hasBody: boolean;
  redirect: 'follow' | 'manual' | 'error';
}

/** Status and headers of the response to a `FetchOrder`. */
export interface FetchHead {
  url: string;
  status: number;
  statusText: string;
  headers: [name: string, value: string][];
  redirected: boolean;
}

export type Hash = 'SHA-1' | 'SHA-256' | 'SHA-384' | 'SHA-512';

/** Digest of the body, which crosses separately, or an HMAC: then the first `keyBytes` of the body are its key. */
export interface DigestOrder {
  hash: Hash;
  keyBytes: number | null;
}

/** Requests from the isolate to the child, by name. The child enforces limits and rejects with a sentence. */
export interface PortOrders {
  /** Starts a timer. `keepsAlive` prevents the run from ending while the timer is pending. */
  timer: { id: number; delayMs: number; keepsAlive: boolean };
  clearTimer: { id: number };
  call: { id: number; name: string; params: unknown };
  cancelCall: { id: number };
  fetch: FetchOrder;
  abortFetch: { id: number };
  /** Replies with that many random bytes, as a byte string. */
  random: { sizeBytes: number };
  /** Replies with the digest, as a byte string. */
  digest: DigestOrder;
  /** Reports the start of a call by user code, at a position in the user's script. Rejected when there are too many. */
  stepBegan: { step: StepBegin; at: string };
  stepEnded: StepEnd;
  /** Sets the run's result as JSON text and replaces the previous one. */
  result: { json: string };
  /** Replies with the milliseconds since the run began, with fractions. */
  now: Record<string, never>;
  /** Reports that the promise of the user's script has settled. */
  mainSettled: Record<string, never>;
  /** Ends the run as failed. `at` is a position in the user's script, `line:column`, or empty. */
  uncaught: { message: string; text: string; at: string };
}

/**
 * Facts about a value that the language hides but the engine shows to debuggers: state and result of a promise, kind
 * and remaining items of an iterator (or the content of a weak collection), and the non-index keys of an array.
 */
export type LookAt = 'promise' | 'entries' | 'keys';

/**
 * Requests that block the isolate until the child resumes it. Their arguments are strings, which no patched prototype
 * affects.
 */
export interface PortHolds {
  log: [level: 'log' | 'warn' | 'error', message: string, at: string];
  /** Performs one step of inspecting the value that the isolate shows. */
  look: [at: LookAt];
  /** Ends the run as completed. */
  stop: [];
}

/**
 * Reply of the child. A string is a rejection (`timer`, `call`, `fetch`, `stepBegan`, `result`) or the result
 * (`random`, `digest`).
 */
export type PortAnswer = string | number | undefined;

export interface Port {
  /** Sends a request and returns its immediate reply. */
  ask<Name extends keyof PortOrders>(name: Name, order: PortOrders[Name], body?: string): PortAnswer;
  block<Name extends keyof PortHolds>(name: Name, ...texts: PortHolds[Name]): void;
}

/** Functions of the child, as passed in by isolated-vm. */
export interface PortFunctions {
  ask: (name: string, json: string, body?: string) => PortAnswer;
  block: { applySyncPromise: (receiver: undefined, args: string[]) => void };
}

/** Functions of a replay's child, in addition to the requests of a run. */
export interface ReplayPort {
  ask: PortFunctions['ask'];
  /** Handles a blocking request, as a run's child does. Returns true to end the run. */
  hold: (name: string, ...texts: string[]) => boolean;
  /** Returns the time in epoch ms at which the screen was captured. */
  capturedAt: () => number;
  /** Returns the stage that the current screen was stored under: empty if unknown, null if the code sets it itself. */
  stage: () => string | null;
  /** Reports a search of the current screen that found nothing. Absent if no one collects them. */
  missed?: (by: 'id' | 'text' | 'conditions', wanted: string) => void;
}

export function createPort({ ask, block }: PortFunctions): Port {
  return {
    ask: (name, order, body) => ask(name, orderJson(order), body),
    block: (...texts: string[]) => block.applySyncPromise(undefined, texts),
  };
}

/** Functions captured before user code could patch them or the prototypes on which they look up `toJSON`. */
const { keys } = Object;
const { setPrototypeOf } = Reflect;
const { isArray } = Array;
const { stringify } = JSON;
/** Inherits from `Object.prototype`. */
const arrayPrototype = Array.prototype;

export const { parse } = JSON;

export function orderJson(order: unknown): string {
  return stringify('toJSON' in arrayPrototype ? detached(order) : order);
}

/** Copies a value without its prototype. */
function detached(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- filled by name in both cases
  const copy = (isArray(value) ? [] : {}) as Record<string, unknown>;
  setPrototypeOf(copy, null);
  const names = keys(value);
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] ?? '';
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its own keys
    copy[name] = detached((value as Record<string, unknown>)[name]);
  }
  return copy;
}

/** Chunk size for converting bytes to strings. Bytes cross the port as strings with one byte per character. */
const chunkBytes = 8192;

export function toByteString(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let start = 0; start < bytes.length; start += chunkBytes)
    parts.push(String.fromCharCode(...bytes.subarray(start, start + chunkBytes)));
  return parts.join('');
}

export function fromByteString(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index += 1) bytes[index] = text.charCodeAt(index);
  return bytes;
}
