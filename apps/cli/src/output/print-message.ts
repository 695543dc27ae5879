import { printable } from './printable.ts';
import { withNames } from './typed-names.ts';

/** What a server answers in words, as the output of the command. */
export function printMessage({ message }: { message: string }): void {
  console.log(printable(withNames(message)));
}
