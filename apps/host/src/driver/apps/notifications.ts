import type { PhoneNotification } from '@phalanx/protocol';
import type { PhoneShell } from '../shell/phone-shell.ts';

/** Without the option, Android 10 and newer tell lengths instead of texts. */
const dump =
  "dumpsys notification --noredact | grep -E '^  [A-Za-z]|NotificationRecord[(]|android.(title|text)='";

/** What is in the shade, in Android's order. The dump goes on with records of the past. */
export async function listNotifications(
  shell: PhoneShell,
  signal: AbortSignal,
): Promise<PhoneNotification[]> {
  const { stdout } = await shell.run(dump, signal);
  const lines = stdout.split(/\r?\n/);
  const start = lines.findIndex((line) => /^ {2}Notification List:/.test(line)) + 1;
  const end = lines.findIndex((line, index) => index >= start && /^ {2}[A-Za-z]/.test(line));
  const notifications: PhoneNotification[] = [];
  for (const line of start === 0 ? [] : lines.slice(start, end === -1 ? undefined : end)) {
    const packageName = /NotificationRecord\(\S+ pkg=([\w.]+) /.exec(line)?.[1];
    if (packageName !== undefined) notifications.push({ packageName, title: null, text: null });
    const [, name, value] = /^\s+android\.(title|text)=\w+ \((.*?)\)?$/.exec(line) ?? [];
    const last = notifications.at(-1);
    if (last === undefined || value === undefined) continue;
    if (name === 'title') last.title = value;
    else last.text = value;
  }
  return notifications;
}
