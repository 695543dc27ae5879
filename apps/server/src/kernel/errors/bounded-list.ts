/** So many are named in a message; a request may concern ten thousand. */
const maxNamed = 20;

/** The first of them, and how many more there are. */
export function boundedList(items: readonly string[], separator = '; '): string {
  if (items.length <= maxNamed) return items.join(separator);
  const more = (items.length - maxNamed).toLocaleString('en');
  return `${items.slice(0, maxNamed).join(separator)}${separator}and ${more} more`;
}
