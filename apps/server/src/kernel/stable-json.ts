const inOrder = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
    : value;

/** JSON of a value, the same in whatever order the fields of its objects come. */
export const stableJson = (value: unknown): string => JSON.stringify(value, inOrder);
