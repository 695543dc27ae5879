/** Values by the entry of the browser's history and by their names, as long as the page is open. */
const values = new Map<string, unknown>();

/** The router gives each entry a key of its own, which Back finds again. */
function keyOf(name: string): string {
  const state: unknown = window.history.state;
  const hasKey = typeof state === 'object' && state !== null && '__TSR_key' in state;
  return `${hasKey ? String(state.__TSR_key) : ''} ${name}`;
}

/** Keeps a value for this entry of the history, such as how far a list is scrolled. */
export const keep = (name: string, value: unknown): unknown => values.set(keyOf(name), value);

/** Gives what was kept for this entry before, when somebody comes back to it. */
export const keptValue = (name: string): unknown => values.get(keyOf(name));
