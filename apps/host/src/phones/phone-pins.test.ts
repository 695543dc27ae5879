import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PhoneShell } from '../driver/shell/phone-shell.ts';
import { loadPins } from './phone-pins.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'phalanx-pins-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const load = async (text: string): Promise<unknown> => {
  const file = join(folder, 'pins');
  await writeFile(file, text);
  return await loadPins(file).then(
    () => 'read',
    (error: unknown) => String(error),
  );
};

describe('the file of PINs', () => {
  it('has a serial number and a PIN in each line', async () => {
    expect(await load('# phones\n\nR58M123ABC 1234\r\n  192.168.1.20:5555\t99887766\n* 0000\n')).toBe('read');
  });

  it('has serial numbers with spaces, as mDNS makes them: the PIN is the last word', async () => {
    const file = join(folder, 'pins');
    await writeFile(file, 'adb-0123-q1 (2)._adb-tls-connect._tcp  4712\n(no serial number) 1 4713\n* 0000\n');
    const pins = await loadPins(file);
    const typed: string[] = [];
    const shell = { run: async (command: string) => void typed.push(command) };
    for (const serial of ['adb-0123-q1 (2)._adb-tls-connect._tcp', '(no serial number) 1', '(no'])
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else of the shell is used
      await pins.unlock(serial, shell as unknown as PhoneShell, {
        isOpen: async () => true,
        signal: AbortSignal.timeout(5000),
      });
    const keys = typed.filter((command) => command.endsWith(' 66'));
    expect(keys).toEqual(
      ['11 14 8 9', '11 14 8 10', '7 7 7 7'].map((digits) => `input keyevent ${digits} 66`),
    );
  });

  it.each(['R58M123ABC', 'R58M123ABC 12a4', 'R58M123ABC 123', '4711', `a ${'1'.repeat(17)}`])(
    'is refused with the number of a line that is none, and nothing of it: %s',
    async (line) => {
      const told = await load(`* 4711\n${line}\n`);
      expect(told).toContain('line 2 of');
      expect(told).not.toContain(line);
      expect(told).not.toContain('4711');
    },
  );

  it('is told when it is not there', async () => {
    await expect(loadPins(join(folder, 'none'))).rejects.toThrow('ENOENT');
  });
});
