import { printable } from './printable.ts';
import { withNames } from './typed-names.ts';

/** For people, beside what the command puts out: on standard error. */
export function notice(text: string): void {
  console.error(printable(withNames(text)));
}
