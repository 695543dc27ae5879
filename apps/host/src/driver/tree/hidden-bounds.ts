import type { Bounds, UiNode } from '@phalanx/protocol';

/** Where a picture of the screen shows what must not leave the host: fields for passwords. */
export function hiddenBounds(root: UiNode): Bounds[] {
  const hidden: Bounds[] = [];
  const waiting = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.password) hidden.push(node.boundsInScreen);
    else waiting.push(...node.children);
  }
  return hidden;
}
