/** Values by history entry and name, kept while the page is loaded. */
const values = new Map<string, unknown>();

/** Returns the storage key. The router gives each history entry a key, which stays the same after Back. */
function keyOf(name: string): string {
  const state: unknown = window.history.state;
  const hasKey = typeof state === 'object' && state !== null && '__TSR_key' in state;
  return `${hasKey ? String(state.__TSR_key) : ''} ${name}`;
}

/** Stores a value, such as a scroll position, for the current history entry. */
export const keep = (name: string, value: unknown): unknown => values.set(keyOf(name), value);

/** Returns the value stored for the current history entry. */
export const keptValue = (name: string): unknown => values.get(keyOf(name));
