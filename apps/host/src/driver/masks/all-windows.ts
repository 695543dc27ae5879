import type { Bounds, UiNode } from '@phalanx/protocol';

/** Everything that can be seen on a phone, in any window. */
export interface WindowsReading {
  /** Bounds of nodes that must not be seen. */
  readonly hidden: readonly Bounds[];
  /** Whether a window can be seen whose tree can't be read. */
  readonly hasUnread: boolean;
  /** Digest of the windows and of what is hidden in them, to compare two readings. */
  readonly digest: string;
}

/** Combines the windows. `visibleApps` has a package for each app window that can be seen; undefined when unknown. */
export function readingOfWindows(
  roots: readonly UiNode[],
  masked: readonly Bounds[],
  visibleApps: readonly string[] | undefined,
): WindowsReading {
  const hidden = [...roots.flatMap((root) => hiddenBounds(root)), ...masked];
  const windows = roots.map(({ packageName, boundsInScreen }) => [packageName, boundsInScreen]);
  return {
    hidden,
    hasUnread: visibleApps === undefined || hasUnread(roots, visibleApps),
    digest: JSON.stringify([windows, hidden, visibleApps]),
  };
}

function hasUnread(roots: readonly UiNode[], visibleApps: readonly string[]): boolean {
  const countOf = (packageName: string): number =>
    roots.filter((root) => root.packageName === packageName).length;
  return visibleApps.some(
    (packageName) => visibleApps.filter((other) => other === packageName).length > countOf(packageName),
  );
}

/** Finds the parts of the screen that must not leave the host in a picture: password fields. */
export function hiddenBounds(root: UiNode): Bounds[] {
  const hidden: Bounds[] = [];
  const waiting = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.password) hidden.push(node.boundsInScreen);
    else waiting.push(...node.children);
  }
  return hidden;
}
