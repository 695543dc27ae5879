import { fillPrimordials } from 'node-sources';

/** Language functions that take their receiver as first argument. */
interface Primordials {
  ArrayPrototypePush: (list: unknown[], item: unknown) => void;
  ArrayPrototypeSlice: <T>(list: T[], start?: number, end?: number) => T[];
  DatePrototypeGetTime: (value: object) => number;
  ErrorIsError: (value: unknown) => boolean;
  FunctionPrototypeSymbolHasInstance: (constructor: unknown, value: unknown) => boolean;
  NumberPrototypeToString: (value: number, radix: number) => string;
  ReflectApply: (called: unknown, receiver: unknown, args: unknown[]) => unknown;
  StringPrototypePadStart: (text: string, length: number, by: string) => string;
  StringPrototypeCharCodeAt: (text: string, index: number) => number;
  SafeMap: MapConstructor;
  MapPrototypeGet: (map: object, key: unknown) => unknown;
  MapPrototypeGetSize: (map: object) => number;
  SetPrototypeGetSize: (set: object) => number;
  SetPrototypeHas: (set: object, key: unknown) => boolean;
  WeakMapPrototypeHas: (map: object, key: unknown) => boolean;
  WeakSetPrototypeHas: (set: object, key: unknown) => boolean;
  ArrayBufferPrototypeGetByteLength: (buffer: object) => number;
  DataViewPrototypeGetByteLength: (view: object) => number;
  BigIntPrototypeValueOf: (value: object) => bigint;
  BooleanPrototypeValueOf: (value: object) => boolean;
  NumberPrototypeValueOf: (value: object) => number;
  StringPrototypeValueOf: (value: object) => string;
  SymbolPrototypeValueOf: (value: object) => symbol;
  ObjectPrototypeToString: (value: unknown) => string;
  ObjectPrototypePropertyIsEnumerable: (value: object, key: PropertyKey) => boolean;
  RegExpPrototypeGetSource: (value: object) => string;
  RegExpPrototypeExec: (pattern: RegExp, text: string) => RegExpExecArray | null;
  RegExpPrototypeSymbolReplace: (pattern: RegExp, text: string, by: string) => string;
  StringPrototypeSlice: (text: string, start?: number, end?: number) => string;
  TypedArrayPrototypeGetLength: (array: object) => number;
  TypedArrayPrototypeGetSymbolToStringTag: (value: unknown) => string | undefined;
  /** Own properties hold the methods, so that patched prototypes do not affect them. */
  SafeWeakMap: WeakMapConstructor;
  AsyncFunctionPrototype: object;
  AsyncGeneratorFunctionPrototype: object;
  GeneratorFunctionPrototype: object;
  MapIteratorPrototype: object;
  SetIteratorPrototype: object;
}

let isError: (value: unknown) => boolean = () => false;

const filled = {};
fillPrimordials({}, filled, {}, {});
const late = { ErrorIsError: { value: (value: unknown): boolean => isError(value) } };
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Node's own code has filled it
export const primordials = Object.create(filled, late) as Primordials;

/**
 * Captures the newest language features when the prelude is installed. V8 adds them to a context created from a
 * snapshot, but not to the context from which the snapshot is taken.
 */
export function takeNewestFeatures(): void {
  ({ isError } = Error);
}
