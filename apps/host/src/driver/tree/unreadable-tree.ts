import { DriverError } from '../driver-error.ts';

export function unreadableTree(why: string): DriverError {
  return new DriverError('screen_not_readable', `The phone's UI tree can't be read: ${why}.`);
}
