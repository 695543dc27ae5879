import { styleText } from 'node:util';

import { oneOf, unless } from './formats.ts';
import { setting } from './setting.ts';

export const logFormat = setting({
  name: 'PHALANX_LOG_FORMAT',
  default: '',
  defaultText: 'text on a terminal, else json',
  description: "how the program's own log is written: lines for people, or JSON lines",
  format: unless('', oneOf(['json', 'text'])),
});

interface LogSettings {
  readonly logFormat: 'json' | 'text' | undefined;
  readonly logLevel: string;
}

/** Output of lines for people. */
interface Output {
  readonly isTerminal: boolean;
  print(line: string): void;
}

const standardOutput = (): Output => ({
  isTerminal: process.stdout.isTTY,
  print: (line) => console.log(line),
});

/** Returns the destination of a pino logger. Undefined means pino's default, which is JSON lines on standard output. */
export function programLog({ logFormat: format, logLevel }: LogSettings, output = standardOutput()) {
  const isText = format === undefined ? output.isTerminal : format === 'text';
  if (!isText) return undefined;
  const lineOptions = { hasStacks: logLevel === 'debug', hasColors: output.isTerminal };
  return { write: (line: string): void => output.print(textOfLine(line, lineOptions)) };
}

/** Levels of pino. */
const levels = new Map<unknown, { word: string; style?: 'red' | 'yellow' | 'dim' }>([
  [20, { word: 'debug', style: 'dim' }],
  [30, { word: 'info' }],
  [40, { word: 'warn', style: 'yellow' }],
  [50, { word: 'error', style: 'red' }],
  [60, { word: 'fatal', style: 'red' }],
]);

/** Fields that are the same in all lines of a program, or that are printed separately. */
const hiddenFields = new Set(['level', 'time', 'pid', 'hostname', 'name', 'msg', 'err', 'reqId']);

const maxFieldLength = 200;

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

interface LineOptions {
  readonly hasStacks: boolean;
  readonly hasColors: boolean;
}

/** Formats one JSON line of pino for people: local time, level, message, fields, error. */
function textOfLine(line: string, { hasStacks, hasColors }: LineOptions): string {
  const fields: unknown = JSON.parse(line);
  if (!isFields(fields)) return oneLine(line);
  const { level, time, msg, err } = fields;
  const { word, style } = levels.get(level) ?? { word: 'log' };
  const shown = hasColors && style !== undefined ? styleText(style, word, { stream: process.stdout }) : word;
  const parts = [
    new Date(Number(time)).toTimeString().slice(0, 8),
    shown + ' '.repeat(Math.max(0, 5 - word.length)),
    oneLine(plainText(msg)),
    oneLine(messageOf(err)),
    ...Object.entries(fields).flatMap(([name, value]) =>
      hiddenFields.has(name) ? [] : `${oneLine(name)}=${textOfField(value)}`,
    ),
  ];
  return parts.filter((part) => part !== '').join(' ') + (hasStacks ? stackOf(err) : '');
}

/** Returns the error in parentheses, for use after the message. */
function messageOf(err: unknown): string {
  if (!isFields(err)) return '';
  return `(${plainText(err['message'] ?? err['type'] ?? 'unknown error')})`;
}

function stackOf(err: unknown): string {
  const stack = isFields(err) ? err['stack'] : undefined;
  if (typeof stack !== 'string') return '';
  return stack
    .split('\n')
    .map((line) => `\n    ${oneLine(line)}`)
    .join('');
}

function textOfField(value: unknown): string {
  const shown = isFields(value) && typeof value['message'] === 'string' ? value['message'] : value;
  const text = typeof shown === 'string' && /^[^\s"=]+$/.test(shown) ? shown : JSON.stringify(shown);
  return oneLine(text.length > maxFieldLength ? `${text.slice(0, maxFieldLength)}…` : text);
}

const plainText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '');

/** Prevents texts of hosts, phones and users from starting a line or controlling the terminal. */
const oneLine = (text: string): string =>
  text.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim();
