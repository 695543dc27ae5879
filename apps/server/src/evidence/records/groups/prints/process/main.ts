// Runs in a process of its own: trees come from untrusted apps and may have any size and depth.
import { openServerChannel } from '../../../../../kernel/processes/message-stream.ts';
import { printOf } from '../screen-print.ts';
import { jsonOf, type FromProcess, type ToProcess } from './messages.ts';
import { readTree } from './read-tree.ts';

const wrongForm = 'Its last screen has no readable tree.';

function read(bytes: Uint8Array): FromProcess {
  try {
    const tree = readTree(bytes);
    if (tree === undefined) return { kind: 'unreadable', problem: wrongForm };
    return { kind: 'print', print: jsonOf(printOf(tree)) };
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
