import { ServerMessage } from '@phalanx/protocol';
import { Compile } from 'typebox/compile';

/** What the server asks for, beside keeping the connection itself. */
export type ServerCommand = Exclude<ServerMessage, { type: 'welcome' | 'heartbeat' }>;

const validator = Compile(ServerMessage);

/** Throws an error that says what does not fit when the frame is not a message of the protocol. */
export function parseServerMessage(frame: string): ServerMessage {
  const message: unknown = JSON.parse(frame);
  if (validator.Check(message)) return message;
  throw new Error(`a message of type ${typeOf(message)} does not fit the protocol`);
}

function typeOf(message: unknown): string {
  const isObject = typeof message === 'object' && message !== null;
  const type = isObject && 'type' in message ? message.type : undefined;
  return typeof type === 'string' ? JSON.stringify(type.slice(0, 40)) : 'unknown';
}
