import type { PhoneNotification } from '@phalanx/protocol';

import { askWhole } from '../shell/ask-together.ts';
import type { PhoneShell } from '../shell/phone-shell.ts';
import { toldAnswer } from '../shell/told-answer.ts';
import { readNotificationDumps, unclear } from './notification-dumps.ts';

/** Commands that run together. Old releases can't list the keys. */
const questions = [
  'dumpsys notification 2>&1',
  'dumpsys notification --noredact 2>&1',
  'cmd notification list 2>/dev/null',
];

/** Maximum output in bytes: two dumps, each with the records of past notifications. */
const maxBytes = 16 * 1024 * 1024;
const maxReadings = 3;

/**
 * Lists the notifications in the shade, in Android's order. Reads again when a notification has changed between the two
 * dumps. Leaves out one that keeps changing.
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
