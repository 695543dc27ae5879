/** So many are named in a message; a request may concern ten thousand. */
const mostNamed = 20;

/** The first of them, and how many more there are. */
export function boundedList(items: readonly string[], separator = '; '): string {
  if (items.length <= mostNamed) return items.join(separator);
  const more = (items.length - mostNamed).toLocaleString('en');
  return `${items.slice(0, mostNamed).join(separator)}${separator}and ${more} more`;
}
