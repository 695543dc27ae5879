import { once } from 'node:events';
import { createServer } from 'node:http';
import { HostMessage } from '@phalanx/protocol';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';

import { answerParent, command } from '../harness/answer-parent.ts';
import { portOf } from '../http/port-of.ts';
import { RunRows } from '../records/run-rows.ts';

const hostMessage = Compile(HostMessage);
const sockets: WebSocket[] = [];
/** Called for each message during a fan-out. */
let onAcknowledged: (() => void) | undefined;
let rows: RunRows | undefined;

/** Sends the minimum that a host requires. */
function answerHost(socket: WebSocket, data: RawData): void {
  const message: unknown = JSON.parse(Buffer.isBuffer(data) ? data.toString('utf8') : '');
  if (!hostMessage.Check(message)) throw new Error('not a message of a host');
  const server_time = Date.now();
  if (message.type === 'hello')
    socket.send(JSON.stringify({ type: 'welcome', server_time, heartbeat_ms: 2000 }));
  if (message.type === 'heartbeat')
    socket.send(JSON.stringify({ type: 'heartbeat', sent_at: message.sent_at, server_time }));
  if (message.type === 'runs')
    socket.send(JSON.stringify({ type: 'runs_stored', run_ids: message.runs.map((run) => run.run_id) }));
}

answerParent({
  listen: async () => {
    const server = createServer();
    const webSockets = new WebSocketServer({ server, perMessageDeflate: false, clientTracking: false });
    webSockets.on('connection', (socket) => {
      sockets.push(socket);
      socket.on('error', () => socket.terminate());
      socket.on('message', (data) => (onAcknowledged ? onAcknowledged() : answerHost(socket, data)));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${portOf(server.address())}`;
  },
  /** Makes `fanOut` store a run for each device. */
  storeRuns: command(
    Type.Object({ folder: Type.String(), devices: Type.Integer() }),
    async ({ folder, devices }) => {
      rows = await RunRows.open(folder, devices);
    },
  ),
  /**
   * Sends `message` a number of times, to the sockets in turn, and waits for a number of replies, which it only
   * counts. Returns the time in ms.
   */
  fanOut: command(
    Type.Object({ message: Type.String(), messages: Type.Integer(), answers: Type.Integer() }),
    async ({ message, messages, answers }) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      let missing = answers;
      onAcknowledged = () => {
        missing -= 1;
        if (missing === 0) resolve();
      };
      const startedAt = performance.now();
      const runIds = rows?.insert() ?? [];
      for (let index = 0; index < messages; index += 1) sockets[index % sockets.length]?.send(message);
      await promise;
      onAcknowledged = undefined;
      rows?.begin(runIds);
      return performance.now() - startedAt;
    },
  ),
  /** Ends the stored runs, for the next fan-out. */
  endRuns: () => rows?.end(),
});
