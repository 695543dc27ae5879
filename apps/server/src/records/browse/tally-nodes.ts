/**
 * The tree in which records are counted: a node stands for the beginning that the IDs below it share, and its name is
 * its level (one base-36 digit) and that beginning. The first step is three hex digits, about two years of UUIDv7
 * time; each further step is one digit. Names of one level sort as their IDs do.
 */
const prefixLengths: readonly number[] = [0, 3, 4, 5, 6, 7, 8, ...digitsAfter(9)];

/** Ends of the digits after a position, without the dashes. */
function digitsAfter(first: number): number[] {
  const dashes = new Set([8, 13, 18, 23]);
  return Array.from({ length: 36 - first }, (_, offset) => first + offset)
    .filter((index) => !dashes.has(index))
    .map((index) => index + 1);
}

export const rootNode = '0';
/** Sorts after every hex digit, and so after everything that a node stands for. */
export const afterDigits = 'g';

const nameAt = (id: string, level: number): string =>
  level.toString(36) + id.slice(0, prefixLengths[level] ?? 0);

export const levelOf = (node: string): number => Number.parseInt(node.charAt(0), 36);
export const prefixOf = (node: string): string => node.slice(1);
/** Length of the beginnings that the children of a node stand for. */
export const childPrefixLength = (node: string): number => prefixLengths[levelOf(node) + 1] ?? 36;
export const childNamed = (node: string, prefix: string): string => (levelOf(node) + 1).toString(36) + prefix;

/** The nodes above an ID, from the root down. */
export const nodesAbove = (id: string): string[] => prefixLengths.map((_, level) => nameAt(id, level));

/** Below each node above an ID, down to a level: the children whose IDs are all newer. Both ends are exclusive. */
export function newerSiblings(id: string, lowestLevel: number): [after: string, before: string][] {
  return Array.from({ length: lowestLevel }, (_, index) => {
    const level = index + 1;
    const parentPrefix = prefixOf(nameAt(id, index));
    return [nameAt(id, level), `${level.toString(36)}${parentPrefix}${afterDigits}`];
  });
}
