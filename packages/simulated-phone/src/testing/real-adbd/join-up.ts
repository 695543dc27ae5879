import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';

/** Copies both directions between two sockets to the last byte; when one breaks, both do. */
export function joinUp(near: Socket, far: Socket): void {
  pipeline(near, far, () => {});
  pipeline(far, near, () => {});
}
