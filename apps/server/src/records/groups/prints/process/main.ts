// A process of its own: a tree is what an app of a stranger shows, and may be of any size and depth.
import type { UiNode } from '@phalanx/protocol';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import { openServerChannel } from '../../../../processes/server-channel.ts';
import { printOf } from '../screen-print.ts';
import { jsonOf, type FromProcess, type ToProcess } from './messages.ts';

const text = Type.Union([Type.String(), Type.Null()]);

/** What a print is made of. */
const Node = Compile(
  Type.Object({
    className: text,
    viewId: text,
    text,
    description: text,
    hintText: text,
    packageName: Type.String(),
    password: Type.Boolean(),
    clickable: Type.Boolean(),
    scrollable: Type.Boolean(),
    selected: Type.Boolean(),
    visible: Type.Boolean(),
    children: Type.Array(Type.Unknown()),
  }),
);
const Tree = Compile(Type.Object({ root: Type.Unknown(), packageName: Type.String({ maxLength: 255 }) }));

/** Whether all that is below is as an app's tree is. Throws a `RangeError` when it is too deep. */
const isNode = (value: unknown): value is UiNode =>
  Node.Check(value) && value.children.every((child) => isNode(child));

const wrongForm = 'Its last screen has no readable tree.';

function read(bytes: Uint8Array): FromProcess {
  try {
    const tree: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (!Tree.Check(tree) || !isNode(tree.root)) return { kind: 'unreadable', problem: wrongForm };
    const { root, packageName } = tree;
    return { kind: 'print', print: jsonOf(printOf({ root, packageName })) };
  } catch {
    return { kind: 'unreadable', problem: wrongForm };
  }
}

const channel = openServerChannel(
  (message) => {
    // The server is trusted.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    channel.send(read((message as ToProcess).tree));
  },
  () => process.exit(0),
);
const ready: FromProcess = { kind: 'ready' };
channel.send(ready);
