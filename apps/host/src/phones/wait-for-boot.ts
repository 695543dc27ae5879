import type { PhoneShell } from '../driver/phone-shell.ts';
import { pause } from '../time/time-limit.ts';
import { askPhone } from './ask-phone.ts';
import type { PhoneRecord } from './phone-record.ts';

const pollMs = 1000;

/** Waits, as `booting` or `locked`, until Android takes commands and starts apps. */
export async function waitForBoot(phone: PhoneRecord, shell: PhoneShell): Promise<void> {
  const { gone } = shell.connection;
  for (let phase = await readPhase(shell); phase !== 'up'; phase = await readPhase(shell)) {
    phone.confirm();
    if (phase === 'booting') phone.setTrouble('booting', 'Android is starting on the phone.');
    else
      phone.setTrouble(
        'locked',
        'The phone was restarted and wants its PIN, pattern or password once before apps can run. Enter it on the phone; without a screen lock this never happens.',
      );
    await pause(pollMs, gone);
    gone.throwIfAborted();
  }
  phone.confirm();
}

/**
 * The property stays set on some phones when only Android's system server starts anew: its package service is asked too.
 * Before the first unlock after a start, Android runs no app that was not made for that, such as the UI helper.
 */
async function readPhase(shell: PhoneShell): Promise<'booting' | 'locked' | 'up'> {
  const question = 'getprop sys.boot_completed; pm path android; am get-started-user-state 0';
  const { stdout, stderr } = await askPhone(shell, (signal) => shell.run(question, signal));
  if (!/^1\s*$/m.test(stdout.split('\n')[0] ?? '')) return 'booting';
  const isStarting =
    /Can't find service: package|Could not access the Package Manager|Is the system running/i;
  if (isStarting.test(stdout + stderr)) return 'booting';
  return /RUNNING_LOCKED/.test(stdout) ? 'locked' : 'up';
}
