import type { TouchedNode } from '@phalanx/protocol';

/** Target of a touch, in the form that the host locates. */
export interface NodeAim {
  readonly on: TouchedNode;
  readonly closeKeyboard: boolean;
}

/** Maximum length that the host accepts. */
const maxLength = 200;

const cut = (text: string | null | undefined): string | null => text?.slice(0, maxLength) ?? null;

export function touchedNode(node: AndroidNode): TouchedNode {
  const { left, top, right, bottom } = node.boundsInScreen;
  return {
    bounds: { left, top, right, bottom },
    packageName: cut(node.packageName) ?? '',
    className: cut(node.className),
    viewId: cut(node.viewId),
    text: cut(node.text),
    description: cut(node.description),
  };
}
