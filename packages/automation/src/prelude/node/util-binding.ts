/** What Node's inspection asks its engine for (`internalBinding('util')`), by the means of an isolate. */
import { lookAt } from './engine-look.ts';
import { primordials } from './primordials.ts';
import { findProxy } from './proxies.ts';

const {
  ArrayPrototypePush,
  MapPrototypeGet,
  ObjectPrototypePropertyIsEnumerable,
  RegExpPrototypeExec,
  SetPrototypeHas,
  TypedArrayPrototypeGetLength,
  TypedArrayPrototypeGetSymbolToStringTag,
} = primordials;
const { ownKeys } = Reflect;
const { hasOwn } = Object;

const states = { pending: 0, fulfilled: 1, rejected: 2 };
const allProperties = 0;
/** Listing the indexes of longer arrays would cost more than asking the engine for the rest. */
const maxListedLength = 1000;
const indexPattern = /^(?:0|[1-9]\d{0,9})$/;
const maxIndex = 2 ** 32 - 2;
/** As V8 names a value in an error without running any of its code. */
const receiverPattern = /incompatible receiver (?:#<|\[object )([^]*)[>\]]$/;

export const utilBinding = {
  constants: {
    kPending: states.pending,
    kRejected: states.rejected,
    ALL_PROPERTIES: allProperties,
    ONLY_ENUMERABLE: 2,
  },

  getOwnNonIndexProperties(array: unknown[], filter: number): PropertyKey[] {
    const keys = lengthOf(array) > maxListedLength ? lookAt('keys', array) : ownKeys(array);
    const found: PropertyKey[] = [];
    for (let index = 0; index < keys.length; index += 1) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the engine lists keys
      const key = keys[index] as PropertyKey;
      if (isIndex(key)) continue;
      if (filter === allProperties || ObjectPrototypePropertyIsEnumerable(array, key))
        ArrayPrototypePush(found, key);
    }
    return found;
  },

  getPromiseDetails(promise: object): [state: number, result?: unknown] {
    const look = lookAt('promise', promise);
    if (look[0] === 'fulfilled') return [states.fulfilled, look[1]];
    return look[0] === 'rejected' ? [states.rejected, look[1]] : [states.pending];
  },

  getProxyDetails(value: object, both = true): unknown {
    const proxy = findProxy(value);
    return proxy === undefined || !both ? proxy?.target : [proxy.target, proxy.handler];
  },

  /** Keys and values in turn where there are keys. */
  previewEntries(value: object, isIterator?: boolean): unknown {
    const look = lookAt('entries', value);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the engine has it
    const entries = (look[1] ?? []) as { key?: unknown; value: unknown }[];
    const flat: unknown[] = [];
    for (let index = 0; index < entries.length; index += 1) {
      const entry = entries[index];
      if (entry === undefined) continue;
      if (hasOwn(entry, 'key')) ArrayPrototypePush(flat, entry.key);
      else if (look[0] === 'entries') ArrayPrototypePush(flat, entry.value);
      ArrayPrototypePush(flat, entry.value);
    }
    return isIterator === true ? [flat, look[0] === 'entries'] : flat;
  },

  getConstructorName(value: object): string {
    try {
      // One of the two is no receiver for the method.
      MapPrototypeGet(value, undefined);
      return SetPrototypeHas(value, undefined) ? 'Object' : 'Map';
    } catch (error) {
      const found = RegExpPrototypeExec(receiverPattern, error instanceof TypeError ? error.message : '');
      return found?.[1] ?? 'Object';
    }
  },

  getExternalValue: () => undefined,
};

function isIndex(key: PropertyKey): boolean {
  return typeof key === 'string' && RegExpPrototypeExec(indexPattern, key) !== null && +key <= maxIndex;
}

function lengthOf(array: unknown[]): number {
  return TypedArrayPrototypeGetSymbolToStringTag(array) === undefined
    ? array.length
    : TypedArrayPrototypeGetLength(array);
}
