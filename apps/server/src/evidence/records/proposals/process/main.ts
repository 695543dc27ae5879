// Runs in a process of its own: trees come from untrusted apps and may have any size and depth.
import { createAndroidNode, type NodeTouch } from '@phalanx/automation/android-node';
import { testOf } from '@phalanx/automation/screen-sign';
import { findButton, listSigns, toScreenSign } from '@phalanx/automation/screen-signs';
import { openServerChannel } from '../../../../kernel/processes/message-stream.ts';
import { readTree } from '../../groups/prints/process/read-tree.ts';
import { printOf } from '../../groups/prints/screen-print.ts';
import { asSent, type FromProcess, type ToProcess } from './messages.ts';

/** Does nothing, because a saved screen has no phone. */
const nothing = async (): Promise<void> => undefined;
const noPhone: NodeTouch = {
  tap: nothing,
  doubleTap: nothing,
  longPress: nothing,
  writeText: nothing,
  clearText: nothing,
};

function read(bytes: Uint8Array): { screen: AndroidNode; print: string } | undefined {
  try {
    const tree = readTree(bytes);
    return tree && { screen: createAndroidNode(tree.root, noPhone), print: printOf(tree).key };
  } catch {
    return undefined;
  }
}

function list({ trees, maxCount }: Extract<ToProcess, { kind: 'list' }>): FromProcess {
  const found = trees.map(read);
  const screens = found.flatMap((one) => one?.screen ?? []);
  const button = findButton(screens);
  return {
    kind: 'listed',
    signs: listSigns(screens, maxCount).map((sign) => ({ ...sign, condition: asSent(sign.condition) })),
    button: button === undefined ? null : asSent(button),
    prints: found.map((one) => one?.print ?? null),
  };
}

function test({ trees, conditions }: Extract<ToProcess, { kind: 'test' }>): FromProcess {
  const tests = conditions.map((condition) => testOf(toScreenSign(condition)));
  const screens = trees.map((bytes) => {
    const found = read(bytes);
    if (found === undefined) return null;
    const held = [...tests.keys()].filter((index) => tests[index]?.(found.screen) === true);
    return { print: found.print, held };
  });
  return { kind: 'tested', screens };
}

const channel = openServerChannel(
  (message) => {
    // The server is trusted.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const question = message as ToProcess;
    channel.send(question.kind === 'list' ? list(question) : test(question));
  },
  () => process.exit(0),
);
const ready: FromProcess = { kind: 'ready' };
channel.send(ready);
