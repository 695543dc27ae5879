import { Socket } from 'node:net';

import { MessageStream } from './message-stream.ts';

/** Of a confined process: where it speaks with the server. */
export const messagesDescriptor = 3;
/** A project's files go to a compile process in one message. */
const maxMessageBytes = 512 * 1024 * 1024;

/** The confined process's end. `onGone`: the server is. */
export function openServerChannel(onMessage: (message: unknown) => void, onGone: () => void): MessageStream {
  const socket = new Socket({ fd: messagesDescriptor, readable: true, writable: true });
  socket.on('error', () => undefined).on('close', onGone);
  return new MessageStream(socket, maxMessageBytes, onMessage);
}
