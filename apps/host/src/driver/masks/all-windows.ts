import type { Bounds, UiNode } from '@phalanx/protocol';

/** All that can be seen on a phone, of whatever window. */
export interface WindowsReading {
  /** Places of nodes that must not be seen. */
  readonly hidden: readonly Bounds[];
  /** Whether some window can be seen whose tree can't be read. */
  readonly hasUnread: boolean;
  /** Tells two readings apart, by their windows and what is hidden in them. */
  readonly digest: string;
}

/** `visibleApps`: a package for each window of an app that can be seen; undefined when nobody knows. */
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

/** Finds the parts of the screen that must not leave the host in a picture: fields for passwords. */
export function hiddenBounds(root: UiNode): Bounds[] {
  const hidden: Bounds[] = [];
  const waiting = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.password) hidden.push(node.boundsInScreen);
    else waiting.push(...node.children);
  }
  return hidden;
}
