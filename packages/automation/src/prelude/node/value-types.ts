/** Node's `internal/util/types`, as far as the language itself can tell types apart. */
import { lookAt } from './engine-look.ts';
import { findProxy } from './proxies.ts';
import { primordials } from './primordials.ts';

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
  TypedArrayPrototypeGetSymbolToStringTag,
  WeakMapPrototypeHas,
  WeakSetPrototypeHas,
} = primordials;
const { getPrototypeOf } = Reflect;
const { toStringTag } = Symbol;
const BuiltInObject = Object;
const promisePrototype = Promise.prototype;

type Check = (value: object) => boolean;

/** A check of the language throws for values of other types. */
function passes(check: (value: object) => unknown, value: object): boolean {
  try {
    check(value);
    return true;
  } catch {
    return false;
  }
}

/** Objects without any tag can only be of the types that the language names without one. */
const isTagged: Check = (value) =>
  toStringTag in value || !FunctionPrototypeSymbolHasInstance(BuiltInObject, value);

/** A type whose prototype has a tag. */
const tagged =
  (check: (value: object) => unknown): Check =>
  (value) =>
    isTagged(value) && passes(check, value);

/** A type that `Object.prototype.toString` knows of itself. */
const named =
  (name: string, check: (value: object) => unknown): Check =>
  (value) =>
    isTagged(value) ? passes(check, value) : ObjectPrototypeToString(value) === `[object ${name}]`;

/** Looks no further than a proxy, whose trap would run. */
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
