import { printable } from './printable.ts';
import { withNames } from './typed-names.ts';

/** For people, beside what the command puts out: on standard error. */
export function notice(text: string): void {
  console.error(printable(withNames(text)));
}

/** What a server answers in words, as the output of the command. */
export function printMessage({ message }: { message: string }): void {
  console.log(printable(withNames(message)));
}
