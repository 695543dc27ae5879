import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';

/** Copies both directions between two sockets completely; an error of one destroys both. */
export function joinUp(near: Socket, far: Socket): void {
  pipeline(near, far, () => {});
  pipeline(far, near, () => {});
}
