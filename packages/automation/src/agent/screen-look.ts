import { nodesBelow, textsOf } from './nodes/node-search.ts';

/** Everything about a node and those below it that a person would see change. */
export function lookOf(screen: AndroidNode): string {
  return nodesBelow(screen)
    .map((node) => {
      const { left, top, right, bottom } = node.boundsInScreen;
      return [node.className, node.isChecked, left, top, right, bottom, ...textsOf(node)].join('|');
    })
    .join('\n');
}
