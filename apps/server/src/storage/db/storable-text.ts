/**
 * Converts a query parameter to the form that both engines store. PostgreSQL text can't contain U+0000, and a lone
 * surrogate is not valid UTF-8: both become U+FFFD. Names that users enter are rejected earlier
 * (`http/requests/validation.ts`); other texts come from code, phones and hosts.
 */
export function storable(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\0', '\uFFFD');
  return Array.isArray(value) ? value.map(storable) : value;
}
