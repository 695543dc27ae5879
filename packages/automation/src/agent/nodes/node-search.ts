/** The node and all below it, each parent before its children. Not recursive: trees may be deep. */
export function nodesBelow(root: AndroidNode): AndroidNode[] {
  const found: AndroidNode[] = [];
  const waiting = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    found.push(node);
    for (const child of node.children.toReversed()) waiting.push(child);
  }
  return found;
}

/** What a person would read on the node. */
export function textsOf({ text, description }: AndroidNode): string[] {
  return [text, description].filter((part): part is string => part !== undefined && part !== '');
}

export function nodesWithText(root: AndroidNode, text: string | RegExp): AndroidNode[] {
  const matches = matcherOf(text);
  return nodesBelow(root).filter((node) => textsOf(node).some(matches));
}

/** An equal text goes before one that only contains it. */
export function nodeWithText(root: AndroidNode, text: string | RegExp): AndroidNode | null {
  return equalFirst(nodesWithText(root, text), text)[0] ?? null;
}

export function equalFirst(nodes: readonly AndroidNode[], text: string | RegExp): AndroidNode[] {
  const isOther = (node: AndroidNode): number =>
    typeof text === 'string' && textsOf(node).includes(text) ? 0 : 1;
  return nodes.toSorted((a, b) => isOther(a) - isOther(b));
}

/** `viewId` is the full resource id, or only its name. */
export function hasViewId(node: AndroidNode, viewId: string): boolean {
  return node.viewId !== undefined && (node.viewId === viewId || node.viewId.endsWith(`:id/${viewId}`));
}

function matcherOf(text: string | RegExp): (candidate: string) => boolean {
  if (text instanceof RegExp) {
    const { source, flags } = text;
    // Without the flags that make `test` remember a position.
    const pattern = new RegExp(source, flags.replaceAll(/[gy]/g, ''));
    return (candidate) => pattern.test(candidate);
  }
  const wanted = String(text).toLowerCase();
  return wanted === '' ? () => false : (candidate) => candidate.toLowerCase().includes(wanted);
}
