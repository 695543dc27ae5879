import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';

/** What comes from one goes to the other, to its last byte; when one breaks, both do. */
export function joinUp(near: Socket, far: Socket): void {
  pipeline(near, far, () => {});
  pipeline(far, near, () => {});
}
