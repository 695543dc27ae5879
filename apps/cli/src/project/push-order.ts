const ranks: readonly ((file: string) => boolean)[] = [
  (file) => file === 'tsconfig.json',
  (file) => /\.d\.(?:[^./]+\.)?[mc]?ts$/.test(file),
  (file) => !/\.[mc]?tsx?$/.test(file),
];

const rankOf = (file: string): number => {
  const rank = ranks.findIndex((fits) => fits(file));
  return rank === -1 ? ranks.length : rank;
};

/** What others are checked against goes first: options, declarations, data; then the sources. */
export const inPushOrder = (files: readonly string[]): string[] =>
  [...files].sort((one, other) => rankOf(one) - rankOf(other) || (one < other ? -1 : 1));
