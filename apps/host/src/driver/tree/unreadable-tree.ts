import { DriverError } from '../driver-error.ts';

export function unreadableTree(why: string): DriverError {
  return new DriverError('screen_not_readable', `The phone's UI tree can't be read: ${why}.`);
}

export function unexpectedXml(at: number): DriverError {
  return unreadableTree(`its XML at ${at} is not what Android writes`);
}
