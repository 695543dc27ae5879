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
