import { comparedText } from '@phalanx/automation/seen-text';
import type { AgentCallParams, PhoneMessage, PhoneNotification } from '@phalanx/protocol';

import { DriverError } from '../driver-error.ts';
import type { OutputBounds } from '../shell/phone-output.ts';
import type { PhoneShell, ShellResult } from '../shell/phone-shell.ts';

const inbox = 'content query --uri content://sms/inbox';
/** The newest ones. */
const maxMessages = 50;

/** Without the option, Android 10 and newer tell lengths instead of texts. */
const dump =
  "dumpsys notification --noredact | grep -E '^  [A-Za-z]|NotificationRecord[(]|android.(title|text)='";

/** Android cuts texts of notifications at 5,120 characters. */
const ofNotifications: OutputBounds = { maxBytes: 1024 * 1024, maxLineLength: 6000 };
/** A text message has up to 255 parts of 160 characters. */
const ofMessages: OutputBounds = { maxBytes: 4 * 1024 * 1024, maxLineLength: 50_000 };

/**
 * The text is asked for by itself: it may hold line ends, and lines as the phone prints them for other messages. No error has any
 * of it.
 */
export async function listMessages(
  shell: PhoneShell,
  { since, from }: AgentCallParams<'message.list'>,
  signal: AbortSignal,
): Promise<PhoneMessage[]> {
  const aheadMs = await readClockDifference(shell, signal);
  const where = `--where 'date >= ${Math.max(0, Math.floor(since - aheadMs))}'`;
  const listed = await query(shell, `--projection _id:date:address ${where}`, signal);
  const heads = [...listed.matchAll(/^Row: \d+ _id=(\d+), date=(\d+), address=(.*)$/gm)]
    .map(([, id, date, address = '']) => ({
      id: Number(id),
      from: address,
      receivedAt: Number(date) + aheadMs,
    }))
    .filter(({ from: sender }) => from === undefined || isSame(sender, from))
    .slice(0, maxMessages);
  if (heads.length === 0) return [];
  const ids = heads.map(({ id }) => id);
  const texts = textsOf(
    await query(shell, `--projection _id:body --where '_id IN (${ids.join(', ')})'`, signal),
    ids,
  );
  return heads.flatMap((head) => {
    const text = texts.get(head.id);
    return text === undefined ? [] : [{ ...head, text }];
  });
}

/** So much the host's clock is ahead of the phone's, to the second: a message is told as up to a second younger. */
async function readClockDifference(shell: PhoneShell, signal: AbortSignal): Promise<number> {
  const { stdout } = await shell.run('date +%s', signal);
  const seconds = Number(stdout.trim());
  if (!Number.isInteger(seconds) || seconds === 0)
    throw new DriverError('phone_answer_unexpected', 'The phone does not tell its time.');
  return Date.now() - seconds * 1000;
}

async function query(shell: PhoneShell, order: string, signal: AbortSignal): Promise<string> {
  const answer = await shell.run(`${inbox} ${order} --sort '_id DESC'`, signal, ofMessages);
  if (/^(?:Row: 0 |No result found)/.test(answer.stdout)) return answer.stdout;
  throw new DriverError(
    'messages_refused',
    `The phone does not let the computer read its text messages: ${saidOf(answer)}. Makers may keep them from it; reading the notifications needs no such permission.`,
  );
}

/** Only the names of what went wrong: whatever else is printed may be of a message. */
function saidOf({ stderr, stdout }: ShellResult): string {
  const said = `${stderr}\n${stdout}`;
  const [reason = 'it printed no reason'] = /\w+Exception|Could not find provider/.exec(said) ?? [];
  return said.includes('READ_SMS') ? `${reason}, its shell lacks READ_SMS` : reason;
}

/** Found from the last one on, so that no text can pass for a message above it. */
function textsOf(printed: string, ids: readonly number[]): Map<number, string> {
  const texts = new Map<number, string>();
  let rest = `\n${printed.replace(/\r?\n$/, '')}`;
  for (const id of ids.toReversed()) {
    const head = [...rest.matchAll(new RegExp(`\\nRow: \\d+ _id=${id}, body=`, 'g'))].at(-1);
    if (head === undefined) continue;
    texts.set(id, rest.slice(head.index + head[0].length));
    rest = rest.slice(0, head.index);
  }
  return texts;
}

/** `+49 171 …` and `+49171…` are the same sender, also within the marks that keep numbers from left to right. */
const isSame = (one: string, other: string): boolean => plain(one) === plain(other);
const plain = (sender: string): string => comparedText(sender).replaceAll(/[ ()./-]/g, '');

/** What is in the shade, in Android's order. The dump goes on with records of the past. */
export async function listNotifications(
  shell: PhoneShell,
  signal: AbortSignal,
): Promise<PhoneNotification[]> {
  const { stdout } = await shell.run(dump, signal, ofNotifications);
  const lines = stdout.split(/\r?\n/);
  const start = lines.findIndex((line) => /^ {2}Notification List:/.test(line)) + 1;
  const end = lines.findIndex((line, index) => index >= start && /^ {2}[A-Za-z]/.test(line));
  const notifications: PhoneNotification[] = [];
  for (const line of start === 0 ? [] : lines.slice(start, end === -1 ? undefined : end)) {
    const packageName = /^[ \t]*NotificationRecord\(\S+ pkg=([\w.]+) /.exec(line)?.[1];
    if (packageName !== undefined) notifications.push({ packageName, title: null, text: null });
    const [, name, value] = /^[ \t]+android\.(title|text)=\w+ \((.*)$/.exec(line) ?? [];
    const last = notifications.at(-1);
    if (last === undefined || value === undefined) continue;
    const shown = value.endsWith(')') ? value.slice(0, -1) : value;
    if (name === 'title') last.title = shown;
    else last.text = shown;
  }
  return notifications;
}
