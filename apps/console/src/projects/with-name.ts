interface Range {
  readonly start: number;
  readonly end: number;
}

/** A text with another name at these places. */
export function withName(text: string, places: readonly Range[], name: string): string {
  return places
    .toSorted((one, other) => other.start - one.start)
    .reduce((changed, { start, end }) => changed.slice(0, start) + name + changed.slice(end), text);
}
