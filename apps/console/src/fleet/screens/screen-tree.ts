import { createAndroidNode } from '@phalanx/automation/android-node';
import { type UiNode, wholeScreen } from '@phalanx/protocol';
import { queryOptions } from '@tanstack/react-query';

import { call } from '../../api/call.ts';

/** A node with its place in the tree, as the list of nodes shows it. */
export interface TreeRow {
  readonly node: AndroidNode;
  readonly depth: number;
  readonly index: number;
}

export interface ScreenTreeView {
  readonly root: AndroidNode;
  readonly packageName: string;
  /** Each parent before its children. */
  readonly rows: readonly TreeRow[];
}

const noTouch = async (): Promise<void> => {
  throw new Error('A stored screen can not be touched.');
};
const touch = {
  tap: noTouch,
  doubleTap: noTouch,
  longPress: noTouch,
  writeText: noTouch,
  clearText: noTouch,
};

/** The nodes as an automation has them, made by the runtime's own code. */
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

/** The visible nodes at a place of the screen, the smallest first. */
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

/** Label by which a person would recognise the node. */
export const labelOf = (node: AndroidNode): string | undefined =>
  [node.text, node.description, node.hintText ?? undefined].find((text) => text !== undefined && text !== '');

/** The screen of a phone: picture and tree of one moment. */
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
        pictureReason: screen.picture_reason ?? 'There is no picture, and the host does not tell why.',
        pictureRemark: screen.picture_remark ?? undefined,
        tree: readScreenTree(tree.packageName, root),
      };
    },
    retry: false,
    staleTime: 2000,
    // A phone is asked when somebody wants to look.
    refetchOnWindowFocus: false,
    refetchInterval: false,
    structuralSharing: false,
  });
