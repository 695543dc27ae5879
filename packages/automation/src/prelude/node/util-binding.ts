/** `internalBinding('util')` of Node's inspection, built on the isolate's facilities. */
import { lookAt } from './engine-look.ts';
import { primordials } from './primordials.ts';

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
/**
 * Maximum array length whose indexes are listed; for longer arrays it is cheaper to ask the engine for the other
 * keys.
 */
const maxListedLength = 1000;
const indexPattern = /^(?:0|[1-9]\d{0,9})$/;
const maxIndex = 2 ** 32 - 2;
/** V8's name of a value in an error message, which V8 determines without running code of the value. */
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

  /** Returns entries; with keys, keys and values alternate. */
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
      // The call throws, because one of the two arguments is not a valid receiver.
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

/** Implementation of Node's `internal/util/types`, as far as the language itself can distinguish types. */
const {
  ArrayBufferPrototypeGetByteLength,
  BigIntPrototypeValueOf,
  BooleanPrototypeValueOf,
  DataViewPrototypeGetByteLength,
  DatePrototypeGetTime,
  ErrorIsError,
  FunctionPrototypeSymbolHasInstance,
  MapPrototypeGetSize,
  NumberPrototypeValueOf,
  ObjectPrototypeToString,
  RegExpPrototypeGetSource,
  SetPrototypeGetSize,
  StringPrototypeValueOf,
  SymbolPrototypeValueOf,
  WeakMapPrototypeHas,
  WeakSetPrototypeHas,
} = primordials;
const { getPrototypeOf } = Reflect;
const { toStringTag } = Symbol;
const BuiltInObject = Object;
const promisePrototype = Promise.prototype;

type Check = (value: object) => boolean;

/** Whether a check of the language accepts a value; it throws for values of other types. */
function passes(check: (value: object) => unknown, value: object): boolean {
  try {
    check(value);
    return true;
  } catch {
    return false;
  }
}

/** Whether an object has a tag. Objects without one can only have types that the language leaves untagged. */
const isTagged: Check = (value) =>
  toStringTag in value || !FunctionPrototypeSymbolHasInstance(BuiltInObject, value);

/** Test for a type whose prototype has a tag. */
const tagged =
  (check: (value: object) => unknown): Check =>
  (value) =>
    isTagged(value) && passes(check, value);

/** Test for a type that `Object.prototype.toString` detects by itself. */
const named =
  (name: string, check: (value: object) => unknown): Check =>
  (value) =>
    isTagged(value) ? passes(check, value) : ObjectPrototypeToString(value) === `[object ${name}]`;

/** Whether a value inherits from a prototype. Stops at a proxy, whose trap would run. */
function inherits(value: object, prototype: object): boolean {
  for (let at = getPrototypeOf(value); at !== null; at = getPrototypeOf(at)) {
    if (at === prototype) return true;
    if (findProxy(at) !== undefined) return false;
  }
  return false;
}

const isTypedArray: Check = (value) => TypedArrayPrototypeGetSymbolToStringTag(value) !== undefined;
const isArrayBuffer = tagged(ArrayBufferPrototypeGetByteLength);
const isStringObject = named('String', StringPrototypeValueOf);
const isNumberObject = named('Number', NumberPrototypeValueOf);
const isBooleanObject = named('Boolean', BooleanPrototypeValueOf);
const isBigIntObject = tagged(BigIntPrototypeValueOf);
const isSymbolObject = tagged(SymbolPrototypeValueOf);
const never = (): boolean => false;

export const valueTypes = {
  isAnyArrayBuffer: isArrayBuffer,
  isArrayBuffer,
  isArgumentsObject: (value: object) => ObjectPrototypeToString(value) === '[object Arguments]',
  isAsyncFunction: (value: object) =>
    inherits(value, primordials.AsyncFunctionPrototype) ||
    inherits(value, primordials.AsyncGeneratorFunctionPrototype),
  isBigIntObject,
  isBooleanObject,
  isBoxedPrimitive: (value: object) =>
    isNumberObject(value) ||
    isStringObject(value) ||
    isBooleanObject(value) ||
    isBigIntObject(value) ||
    isSymbolObject(value),
  isDataView: tagged(DataViewPrototypeGetByteLength),
  isDate: named('Date', DatePrototypeGetTime),
  isExternal: never,
  isGeneratorFunction: (value: object) =>
    inherits(value, primordials.GeneratorFunctionPrototype) ||
    inherits(value, primordials.AsyncGeneratorFunctionPrototype),
  isMap: tagged(MapPrototypeGetSize),
  isMapIterator: (value: object) =>
    inherits(value, primordials.MapIteratorPrototype) && lookAt('entries', value).length > 0,
  isModuleNamespaceObject: never,
  isNativeError: ErrorIsError,
  isNumberObject,
  isPromise: (value: object) => inherits(value, promisePrototype) && lookAt('promise', value).length > 0,
  isRegExp: named('RegExp', RegExpPrototypeGetSource),
  isSet: tagged(SetPrototypeGetSize),
  isSetIterator: (value: object) =>
    inherits(value, primordials.SetIteratorPrototype) && lookAt('entries', value).length > 0,
  isStringObject,
  isSymbolObject,
  isTypedArray,
  isWeakMap: tagged((value) => WeakMapPrototypeHas(value, value)),
  isWeakSet: tagged((value) => WeakSetPrototypeHas(value, value)),
};

interface ProxyDetails {
  target: object | null;
  handler: object | null;
}

const RealProxy = Proxy;
const revocable = Proxy.revocable;
const details = new primordials.SafeWeakMap<object, ProxyDetails>();

/**
 * Returns target and handler of a proxy; undefined for other values. A query to the proxy itself would run its traps.
 */
function findProxy(value: object): ProxyDetails | undefined {
  return details.get(value);
}

/** Replaces `Proxy` by one that records its instances, because there is no other way to recognize a proxy. */
export function rememberProxies(): void {
  RealProxy.revocable = rememberedRevocable;
  globalThis.Proxy = new RealProxy(RealProxy, {
    // oxlint-disable-next-line no-proto -- traps that are missing must not be found on a patched Object.prototype
    __proto__: null,
    construct: (_target: unknown, args: [object, ProxyHandler<object>]) => {
      const proxy = new RealProxy(args[0], args[1]);
      details.set(proxy, { target: args[0], handler: args[1] });
      return proxy;
    },
  } as ProxyHandler<ProxyConstructor>);
  details.set(globalThis.Proxy, { target: RealProxy, handler: {} });
}

const rememberedRevocable: ProxyConstructor['revocable'] = (target, handler) => {
  const made = revocable(target, handler);
  const known: ProxyDetails = { target, handler };
  details.set(made.proxy, known);
  const { revoke } = made;
  made.revoke = () => {
    known.target = known.handler = null;
    revoke();
  };
  return made;
};
