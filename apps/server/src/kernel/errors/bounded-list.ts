/** Maximum number of items that a message names; a request may concern ten thousand. */
const maxNamed = 20;

/** Joins the first items, and says how many more there are. */
export function boundedList(items: readonly string[], separator = '; '): string {
  if (items.length <= maxNamed) return items.join(separator);
  const more = (items.length - maxNamed).toLocaleString('en');
  return `${items.slice(0, maxNamed).join(separator)}${separator}and ${more} more`;
}
