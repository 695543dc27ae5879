import { hash } from 'node:crypto';

/** Tells the users of a phone apart for its host, and says nothing of them: `HostTouch.by`. */
export const userMark = (deviceId: string, userId: string): string =>
  hash('sha256', `${deviceId} ${userId}`, 'base64url');
