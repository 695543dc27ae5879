import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';

import { programLog } from './program-log.ts';

/** Opens a log that gets lines from pino. */
function openLog(given: { format?: 'json' | 'text'; isTerminal: boolean; level?: string }) {
  const printed: string[] = [];
  const output = { isTerminal: given.isTerminal, print: (line: string) => void printed.push(line) };
  const destination = programLog({ logFormat: given.format, logLevel: given.level ?? 'info' }, output);
  const log = (level: number, msg: string, fields: object = {}): void =>
    destination?.write(
      `${JSON.stringify({ level, time: Date.now(), pid: 1, hostname: 'pi', ...fields, msg })}\n`,
    );
  return { destination, log, text: () => stripVTControlCharacters(printed.join('\n')) };
}

const full = new Error('disk is full');
const err = { type: 'Error', message: full.message, stack: full.stack };

describe("the program's own log", () => {
  it.each([
    { isTerminal: false, isJson: true },
    { isTerminal: true, isJson: false },
    { isTerminal: true, format: 'json' as const, isJson: true },
    { isTerminal: false, format: 'text' as const, isJson: false },
  ])('is for people on a terminal, unless the setting says otherwise: %o', ({ isJson, ...given }) => {
    const { destination, log, text } = openLog(given);
    log(30, 'NATS is reached');
    if (isJson) expect(destination).toBeUndefined();
    else expect(text()).toMatch(/^\d\d:\d\d:\d\d info {2}NATS is reached$/);
  });

  it('shows the fields of a line, and of an error its message', () => {
    const { log, text } = openLog({ isTerminal: true });
    log(40, 'Run ended', { serial: 'R58', waitMs: 5, error: { code: 'a', message: 'too hot' }, list: [1] });
    log(50, 'A record was dropped', { err, file: 'a b' });
    expect(text()).toMatch(
      /^\S+ warn {2}Run ended serial=R58 waitMs=5 error="too hot" list=\[1\]\n\S+ error A record was dropped \(disk is full\) file="a b"$/,
    );
  });

  it('shows the stack of an error at the level debug', () => {
    const { log, text } = openLog({ isTerminal: true, level: 'debug' });
    log(50, 'A record was dropped', { err });
    expect(text()).toMatch(
      /dropped \(disk is full\)\n {4}Error: disk is full\n {4}at .*program-log\.test\.ts/,
    );
  });

  it('lets nobody begin a line or steer the terminal', () => {
    const { log, text } = openLog({ isTerminal: true });
    const hostile = 'a\n00:00:00 error forged\u001B]0;title\u0007\u009B2J\u202E';
    log(30, hostile, { host: hostile, err: { message: hostile } });
    expect(text()).not.toMatch(/[\p{Cc}\u202E]/u);
  });
});
