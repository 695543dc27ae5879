/**
 * Returns a parameter of a query as both engines store it. PostgreSQL has no U+0000 in a text, and half a surrogate
 * pair is no UTF-8: both become U+FFFD. Texts that people give as names are refused before
 * (`http/requests/validation.ts`); others come from code, phones and hosts.
 */
export function storable(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\0', '\uFFFD');
  return Array.isArray(value) ? value.map(storable) : value;
}
