import type { WebSocket } from 'ws';

const pingMs = 15_000;

/** Ends a socket whose peer has vanished without a word, which would be kept for ever. */
export function keepAlive(socket: WebSocket): void {
  let isAlive = true;
  const timer = setInterval(() => {
    if (!isAlive) return socket.terminate();
    isAlive = false;
    socket.ping();
  }, pingMs);
  socket.on('pong', () => (isAlive = true));
  socket.on('close', () => clearInterval(timer));
}
