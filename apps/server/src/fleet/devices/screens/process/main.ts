// Runs as a separate process, because parsing a screen of 20,000 nodes would block other requests for too long.
import { readCompact } from '@phalanx/protocol';
import { openServerChannel } from '../../../../kernel/processes/message-stream.ts';
import { parseScreen, type FromProcess, type ToProcess } from './messages.ts';

function read({ answer, isCompact }: ToProcess): FromProcess {
  const screen = parseScreen(new TextDecoder().decode(answer));
  if (screen === undefined) return { kind: 'refused' };
  if (!isCompact) return { kind: 'fits' };
  const { head, lines, leftOut } = readCompact(screen);
  const sent = lines.map(({ node: _node, said: _said, texts, ...line }) => ({ ...line, texts: [...texts] }));
  return { kind: 'compact', captured_at: screen.captured_at, compact: { head, leftOut, lines: sent } };
}

const channel = openServerChannel(
  (message) => {
    // The server is trusted.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    channel.send(read(message as ToProcess));
  },
  () => process.exit(0),
);
const ready: FromProcess = { kind: 'ready' };
channel.send(ready);
