import { styleText } from 'node:util';

import { environment } from '../config.ts';

type Style = 'red' | 'yellow' | 'cyan' | 'dim';

/** Colours are for terminals, and only where nobody asked for none (https://no-color.org). */
export function styled(style: Style, text: string): string {
  const isWanted = process.stdout.isTTY && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb';
  return isWanted ? styleText(style, text, { validateStream: false }) : text;
}
