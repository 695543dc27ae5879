import { DriverError } from '../driver-error.ts';
import { shellQuote } from '../shell/shell-quote.ts';

const keyEnter = 66;
const keyTab = 61;

/**
 * The command lines that type a text by `input text`, which knows only the keys of a US keyboard, turns `%s`
 * into a space and can't type a literal `%s` at all: such a text is cut between its two characters.
 */
export function inputTextCommands(text: string): string[] {
  const unknown = /[^\x20-\x7e\n\r\t]/u.exec(text)?.[0];
  if (unknown !== undefined) {
    throw new DriverError(
      'text_not_typable',
      `"${unknown}" can't be typed: without the UI helper the phone takes only ASCII text. See the phone's state for why the helper is not there.`,
    );
  }
  const parts = text
    .replaceAll('\r\n', '\n')
    .split(/([\n\r\t])|(?<=%)(?=s)/)
    .filter((part) => part !== undefined && part !== '');
  return parts.map(commandFor);
}

function commandFor(part: string): string {
  if (part === '\n' || part === '\r') return `input keyevent ${keyEnter}`;
  if (part === '\t') return `input keyevent ${keyTab}`;
  return `input text ${shellQuote(part.replaceAll(' ', '%s'))}`;
}
