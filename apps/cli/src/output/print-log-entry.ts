import { styleText } from 'node:util';
import type { LogEntry } from '@phalanx/protocol';

import { environment } from '../config.ts';
import { printable } from './printable.ts';

type Style = 'red' | 'yellow' | 'cyan' | 'dim';

const two = (value: number): string => String(value).padStart(2, '0');

/** The time of day here. */
function timeOfDay(epochMs: number): string {
  const time = new Date(epochMs);
  const seconds = `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
  return `${seconds}.${String(time.getMilliseconds()).padStart(3, '0')}`;
}

function styledByLevel(level: LogEntry['messageLevel'], text: string): string {
  if (level === 'log') return text;
  return styled(level === 'warn' ? 'yellow' : 'red', text);
}

/** `prefix` names the device where there are several. Further lines of a message are indented below the first. */
export function printLogEntry(entry: LogEntry, prefix = ''): void {
  const { timestamp, messageLevel, lineNumber, message } = entry;
  const start = `${timeOfDay(timestamp)}  ${messageLevel.padEnd(5)}  ${String(lineNumber).padStart(4)}  `;
  const margin = ' '.repeat(start.length);
  const label = prefix === '' ? '' : styled('cyan', `${prefix}  `);
  const [first = '', ...others] = printable(message).split('\n');
  console.log(label + styledByLevel(messageLevel, `${start}${first}`));
  for (const line of others) console.log(label + styledByLevel(messageLevel, `${margin}${line}`));
}

/** Colours are for terminals, and only where nobody asked for none (https://no-color.org). */
function styled(style: Style, text: string): string {
  const isWanted = process.stdout.isTTY && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb';
  return isWanted ? styleText(style, text, { validateStream: false }) : text;
}
