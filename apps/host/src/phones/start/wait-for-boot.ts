import type { PhoneShell } from '../../driver/shell/phone-shell.ts';
import { pause } from '../../time/time-limit.ts';
import { askPhone } from '../ask-phone.ts';
import type { PhonePins, Unlocking } from '../phone-pins.ts';
import type { PhoneRecord } from '../phone-record.ts';

const pollMs = 1000;

const reasons: Readonly<Record<Exclude<Unlocking, 'open'>, string>> = {
  no_pin:
    'Enter it on the phone, or give it to the host (PHALANX_PINS_FILE); without a screen lock this never happens.',
  closed: 'The PIN of PHALANX_PINS_FILE did not open it. It is tried once more.',
  given_up:
    'The PIN of PHALANX_PINS_FILE did not open it twice and is not typed again. Correct the file and restart the host, or enter the PIN on the phone.',
};

/** Waits, as `booting` or `locked`, until Android takes commands and starts apps. Types the PIN where the host knows it. */
export async function waitForBoot(phone: PhoneRecord, shell: PhoneShell, pins: PhonePins): Promise<void> {
  const { gone } = shell.connection;
  const isOpen = async (): Promise<boolean> => (await readPhase(shell)) === 'up';
  for (let phase = await readPhase(shell); phase !== 'up'; phase = await readPhase(shell)) {
    phone.confirm();
    if (phase === 'booting') phone.setTrouble('booting', 'Android is starting on the phone.');
    else {
      const unlocking = await pins.unlock(phone.serial, shell, { isOpen, signal: gone });
      if (unlocking === 'open') continue;
      const sentence =
        'The phone was restarted and wants its PIN, pattern or password once before apps can run.';
      phone.setTrouble('locked', `${sentence} ${reasons[unlocking]}`);
    }
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
