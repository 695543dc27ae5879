/**
 * The only way out of the isolate. Only strings and numbers cross it, and the two functions behind it are held
 * by this closure alone, so user code that patches prototypes never gets hold of them.
 */
import type { StepBegin, StepEnd } from '@phalanx/protocol';

/** An HTTP request for the child to make; its body crosses beside it as a string of bytes. */
export interface FetchOrder {
  id: number;
  url: string;
  method: string;
  headers: [name: string, value: string][];
  hasBody: boolean;
  redirect: 'follow' | 'manual' | 'error';
}

/** The head of the answer to a `FetchOrder`. */
export interface FetchHead {
  url: string;
  status: number;
  statusText: string;
  headers: [name: string, value: string][];
  redirected: boolean;
}

export type Hash = 'SHA-1' | 'SHA-256' | 'SHA-384' | 'SHA-512';

/** A digest of the body that crosses beside it, or an HMAC: the first `keyBytes` of the body are its key then. */
export interface DigestOrder {
  hash: Hash;
  keyBytes: number | null;
}

/** Orders that the isolate may give to the child, by name. The child enforces limits and refuses with a sentence. */
export interface PortOrders {
  /** `keepsAlive`: the run does not end while the timer waits. */
  timer: { id: number; delayMs: number; keepsAlive: boolean };
  clearTimer: { id: number };
  call: { id: number; name: string; params: unknown };
  cancelCall: { id: number };
  fetch: FetchOrder;
  abortFetch: { id: number };
  /** Answered by that many random bytes, as a string of bytes. */
  random: { sizeBytes: number };
  /** Answered by the digest, as a string of bytes. */
  digest: DigestOrder;
  /** A call of user code's own begins, at a position in the user's script; refused when there are too many. */
  stepBegan: { step: StepBegin; at: string };
  stepEnded: StepEnd;
  /** JSON text of the run's result, which replaces the one before. */
  result: { json: string };
  /** Answered by milliseconds since the run began, with fractions. */
  now: Record<string, never>;
  /** The promise of the user's script has settled. */
  mainSettled: Record<string, never>;
  /** Ends the run as failed. `at` is a position in the user's script, `line:column`, or empty. */
  uncaught: { message: string; text: string; at: string };
}

/**
 * Facts about a value that the language hides and the engine shows to debuggers: a promise's state and result,
 * the kind and the rest of an iterator (or the content of a weak collection), an array's keys that are no
 * indexes.
 */
export type LookAt = 'promise' | 'entries' | 'keys';

/**
 * Orders that block the isolate until the child lets it go on. Their arguments are texts, which no patched
 * prototype changes.
 */
export interface PortHolds {
  log: [level: 'log' | 'warn' | 'error', message: string, at: string];
  /** One step of a look into the value that the isolate shows. */
  look: [at: LookAt];
  /** Ends the run as completed. */
  stop: [];
}

/** A string refuses (`timer`, `call`, `fetch`, `stepBegan`, `result`) or is the answer (`random`, `digest`). */
export type PortAnswer = string | number | undefined;

export interface Port {
  /** Answered at once. */
  ask<Name extends keyof PortOrders>(name: Name, order: PortOrders[Name], body?: string): PortAnswer;
  block<Name extends keyof PortHolds>(name: Name, ...texts: PortHolds[Name]): void;
}

/** The two functions of the child, as isolated-vm hands them over. */
export interface PortFunctions {
  ask: (name: string, json: string, body?: string) => PortAnswer;
  block: { applySyncPromise: (receiver: undefined, args: string[]) => void };
}

/** Functions of the child of a replay, in addition to the orders of a run. */
export interface ReplayPort {
  ask: PortFunctions['ask'];
  /** Answers an order that blocks the isolate, as a run's child does. True ends the run. */
  hold: (name: string, ...texts: string[]) => boolean;
  /** Epoch milliseconds at which the screen was captured. */
  capturedAt: () => number;
  /** The stage that the present screen was stored under; empty when none is known, null where the code says it itself. */
  stage: () => string | null;
  /** A search of the present screen that found nothing. Absent where nobody wants to know. */
  missed?: (by: 'id' | 'text' | 'conditions', wanted: string) => void;
}

export function createPort({ ask, block }: PortFunctions): Port {
  return {
    ask: (name, order, body) => ask(name, orderJson(order), body),
    block: (...texts: string[]) => block.applySyncPromise(undefined, texts),
  };
}

/** JSON as it was before user code could patch it, or the prototypes that it asks for `toJSON`. */
const { keys } = Object;
const { setPrototypeOf } = Reflect;
const { isArray } = Array;
const { stringify } = JSON;
/** Inherits from the prototype of all objects. */
const arrayPrototype = Array.prototype;

export const { parse } = JSON;

export function orderJson(order: unknown): string {
  return stringify('toJSON' in arrayPrototype ? detached(order) : order);
}

/** A copy that inherits nothing. */
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

/** Bytes cross the port as strings whose every character is one byte. */
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
