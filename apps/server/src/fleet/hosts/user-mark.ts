import { hash } from 'node:crypto';

/** Returns a pseudonym that lets a host distinguish the users of a phone without identifying them: `HostTouch.by`. */
export const userMark = (deviceId: string, userId: string): string =>
  hash('sha256', `${deviceId} ${userId}`, 'base64url');
