import { createAndroidNode } from '@phalanx/automation/android-node';
import { type UiNode, wholeScreen } from '@phalanx/protocol';
import { queryOptions } from '@tanstack/react-query';

import { call } from '../../api/call.ts';

/** Node with its position in the tree, as a row of the tree list. */
export interface TreeRow {
  readonly node: AndroidNode;
  readonly depth: number;
  readonly index: number;
}

export interface ScreenTreeView {
  readonly root: AndroidNode;
  readonly packageName: string;
  /** Nodes in pre-order: each parent precedes its children. */
  readonly rows: readonly TreeRow[];
}

const noTouch = async (): Promise<void> => {
  throw new Error('A stored screen cannot be touched.');
};
const touch = {
  tap: noTouch,
  doubleTap: noTouch,
  longPress: noTouch,
  writeText: noTouch,
  clearText: noTouch,
};

/** Returns the nodes as automations see them, built by the runtime's own code. */
export function readScreenTree(packageName: string, root: UiNode): ScreenTreeView {
  const node = createAndroidNode(root, touch);
  const rows: TreeRow[] = [];
  const waiting: [AndroidNode, number][] = [[node, 0]];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [current, depth] = next;
    rows.push({ node: current, depth, index: rows.length });
    for (const child of current.children.toReversed()) waiting.push([child, depth + 1]);
  }
  return { root: node, packageName, rows };
}

function areaOf({ boundsInScreen: { left, top, right, bottom } }: AndroidNode): number {
  return Math.max(0, right - left) * Math.max(0, bottom - top);
}

/** Returns the visible nodes at a point, the smallest first. */
export function nodesAt(rows: readonly TreeRow[], x: number, y: number): TreeRow[] {
  return rows
    .filter(({ node }) => {
      const { left, top, right, bottom } = node.boundsInScreen;
      return node.isVisible && x >= left && x < right && y >= top && y < bottom;
    })
    .toSorted((one, other) => areaOf(one.node) - areaOf(other.node) || other.depth - one.depth);
}

export const shortClass = (node: AndroidNode): string => node.className?.split('.').at(-1) ?? 'Node';

export const shortId = (node: AndroidNode): string | undefined => node.viewId?.split(':id/').at(-1);

/** Returns the label by which a person would recognize the node. */
export const labelOf = (node: AndroidNode): string | undefined =>
  [node.text, node.description, node.hintText ?? undefined].find((text) => text !== undefined && text !== '');

/** Query for the screen of a phone: picture and tree of the same moment. */
export const screenQuery = (deviceId: string) =>
  queryOptions({
    queryKey: ['screen', deviceId],
    queryFn: async ({ signal }) => {
      const input = { params: { id: deviceId }, query: { width: 720 } };
      const reply = await call('GET /api/v2/devices/:id/screen', input, { signal });
      const screen = wholeScreen(reply.screen);
      const { picture, width, height, tree } = screen;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the service writes trees in this form
      const root = tree.root as unknown as UiNode;
      return {
        width,
        height,
        readAt: Date.now(),
        picture: picture === null ? undefined : `data:${picture.mime_type};base64,${picture.base64}`,
        pictureReason: screen.picture_reason ?? 'There is no picture, and the host gave no reason.',
        pictureRemark: screen.picture_remark ?? undefined,
        tree: readScreenTree(tree.packageName, root),
      };
    },
    retry: false,
    staleTime: 2000,
    // Each refetch sends a request to the phone, so only the user's action triggers one.
    refetchOnWindowFocus: false,
    refetchInterval: false,
    structuralSharing: false,
  });
