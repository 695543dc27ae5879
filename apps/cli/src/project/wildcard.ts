/**
 * Whether `name` fits a pattern with `*` (any text) and `?` (any one character). It takes time in proportion to both
 * lengths: patterns come with projects, and may be anybody's.
 */
function matchesWildcard(pattern: string, name: string): boolean {
  let at = 0;
  let inPattern = 0;
  let star = -1;
  let starAt = 0;
  while (at < name.length) {
    if (pattern[inPattern] === '*') {
      star = inPattern++;
      starAt = at;
    } else if (
      inPattern < pattern.length &&
      (pattern[inPattern] === '?' || pattern[inPattern] === name[at])
    ) {
      at += 1;
      inPattern += 1;
    } else if (star >= 0) {
      inPattern = star + 1;
      at = ++starAt;
    } else return false;
  }
  return /^\**$/.test(pattern.slice(inPattern));
}

/** The same for paths, segment by segment; the segment `**` stands for any number of them. */
export function matchesPath(pattern: readonly string[], names: readonly string[]): boolean {
  // `fits[n]`: whether the pattern so far fits the first n names.
  let fits = names.map(() => false);
  fits.unshift(true);
  for (const part of pattern) {
    const next = fits.map(() => false);
    for (let count = 0; count <= names.length; count++) {
      const name = names[count - 1];
      if (part === '**') next[count] = fits[count] === true || next[count - 1] === true;
      else next[count] = name !== undefined && fits[count - 1] === true && matchesWildcard(part, name);
    }
    fits = next;
  }
  return fits[names.length] === true;
}
