import { createHash } from 'node:crypto';

/** Tells the users of a phone apart for its host, and says nothing of them: `HostTouch.by`. */
export const userMark = (deviceId: string, userId: string): string =>
  createHash('sha256').update(`${deviceId} ${userId}`).digest('base64url');
