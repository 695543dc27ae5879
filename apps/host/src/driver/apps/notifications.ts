import type { PhoneNotification } from '@phalanx/protocol';

import { askWhole } from '../shell/ask-together.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';
import { toldAnswer } from '../shell/told-answer.ts';
import { readNotificationDumps, unclear } from './notification-dumps.ts';

/** Old releases have no keys to tell. */
const questions = [
  'dumpsys notification 2>&1',
  'dumpsys notification --noredact 2>&1',
  'cmd notification list 2>/dev/null',
];

/** Two dumps, each with the records of the past. */
const maxBytes = 16 * 1024 * 1024;
const maxReadings = 3;

/**
 * Lists what is in the shade, in Android's order. A notification that changed between the two dumps is looked at again; one that changes
 * all the time is left out.
 */
export async function listNotifications(
  shell: PhoneShell,
  signal: AbortSignal,
): Promise<PhoneNotification[]> {
  for (let reading = 1; ; reading += 1) {
    const [lengths = '', texts = '', keys = ''] = await askWhole(shell, questions, signal, maxBytes);
    for (const stdout of [lengths, texts])
      toldAnswer(
        { stdout, stderr: '', exitCode: 0 },
        { sign: /^Current Notification Manager state/, what: 'its notifications' },
      );
    const { notifications, hasChanged, isWhole } = readNotificationDumps({ lengths, texts, keys });
    if (isWhole && (!hasChanged || reading === maxReadings)) return notifications;
    if (reading === maxReadings) throw unclear('the phone has more of them than it lists');
  }
}
