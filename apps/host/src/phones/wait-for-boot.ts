import type { PhoneShell } from '../driver/phone-shell.ts';
import { pause } from '../time/time-limit.ts';
import { askPhone } from './ask-phone.ts';
import type { PhoneRecord } from './phone-record.ts';

const pollMs = 1000;

/** Waits, as `booting`, until Android takes commands. */
export async function waitForBoot(phone: PhoneRecord, shell: PhoneShell): Promise<void> {
  const { gone } = shell.connection;
  while (!(await hasBooted(shell))) {
    phone.confirm();
    phone.setTrouble('booting', 'Android is starting on the phone.');
    await pause(pollMs, gone);
    gone.throwIfAborted();
  }
  phone.confirm();
}

/** The property stays set on some phones when only Android's system server starts anew: its package service is asked too. */
async function hasBooted(shell: PhoneShell): Promise<boolean> {
  const property = await askPhone(shell, (signal) => shell.run('getprop sys.boot_completed', signal));
  if (property.stdout.trim() !== '1') return false;
  const { stdout, stderr } = await askPhone(shell, (signal) => shell.run('pm path android', signal));
  return !/Can't find service|Could not access the Package Manager|Is the system running/i.test(
    stdout + stderr,
  );
}
