/** How well a path fits what is typed, the lower the better; undefined when it does not. */
function matchRank(path: string, typed: string): number | undefined {
  const [text, wanted] = [path.toLowerCase(), typed.trim().toLowerCase()];
  const name = text.slice(text.lastIndexOf('/') + 1);
  if (name.startsWith(wanted)) return 0;
  if (name.includes(wanted)) return 1;
  if (text.includes(wanted)) return 2;
  return hasLettersOf(text, wanted) ? 3 : undefined;
}

/** Whether the letters come in this order, as in `lgn` for `login`. */
function hasLettersOf(text: string, letters: string): boolean {
  let at = 0;
  for (const letter of letters) {
    at = text.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

/** The paths that fit, the best first. */
export function findMatches(paths: readonly string[], typed: string, most: number): string[] {
  return paths
    .flatMap((path) => {
      const rank = matchRank(path, typed);
      return rank === undefined ? [] : [{ path, rank }];
    })
    .toSorted((one, other) => one.rank - other.rank || one.path.length - other.path.length)
    .slice(0, most)
    .map(({ path }) => path);
}
