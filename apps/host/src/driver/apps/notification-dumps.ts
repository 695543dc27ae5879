import type { PhoneNotification } from '@phalanx/protocol';

import { DriverError } from '../driver-error.ts';
import { findText, type RecordLines } from './notification-texts.ts';

interface Dumps {
  /** Output of `dumpsys notification`: has lengths in place of texts, and so nothing that a sender wrote. */
  readonly lengths: string;
  /** Same output with unescaped texts, including their line ends. */
  readonly texts: string;
  /** One line for each notification, `USER|PACKAGE|ID|TAG|UID`. Empty on phones without the command. */
  readonly keys: string;
}

/**
 * Reads notifications from two dumps. The dump without texts defines which notifications exist, their apps, and the
 * lengths of their texts. The first line of a record locates it in the other dump: the line contains the hash of an
 * object, which is unknown outside of Android.
 *
 * Source: AOSP, services/core/java/com/android/server/notification/NotificationRecord.java: dump, dumpNotification,
 * toString.
 */
export function readNotificationDumps({ lengths, texts, keys }: Dumps): {
  notifications: PhoneNotification[];
  /** Whether notifications have changed between the two dumps. */
  hasChanged: boolean;
  /** Whether the dumps contain all notifications whose keys the phone lists. */
  isWhole: boolean;
} {
  const known = keysIn(keys);
  const records = recordsIn(lengths.replaceAll('\r', ''), known);
  const whole = `\n${texts.replaceAll('\r', '')}`;
  const starts = records.map(({ head }) => whole.indexOf(`\n${head}\n`));
  const notifications = records.flatMap((record, index): PhoneNotification[] => {
    const start = starts[index] ?? -1;
    if (start === -1) return [];
    const part = whole.slice(start, endOf(start, starts, whole));
    const [title, text] = [findText(record.lines, 'title', part), findText(record.lines, 'text', part)];
    return title === undefined || text === undefined
      ? []
      : [{ packageName: record.packageName, title, text }];
  });
  const isTold = (key: string): boolean => records.some((record) => record.key === key);
  return { notifications, hasChanged: starts.includes(-1), isWhole: known?.every(isTold) ?? true };
}

function endOf(start: number, starts: readonly number[], whole: string): number {
  return Math.min(whole.length, ...starts.filter((other) => other > start));
}

interface NotificationRecord {
  readonly packageName: string;
  readonly key: string;
  readonly head: string;
  readonly lines: RecordLines;
}

const headForm =
  /^ {4}NotificationRecord\(0x[0-9a-f]{1,16}: pkg=([\w.]{1,255}) user=UserHandle\{(-?\d{1,10})\} id=(-?\d{1,11}) tag=/;

/** Heading of the next section. Longer than the eight characters of a ticker, which even this dump prints. */
const nextHeading = /^ {2}[A-Za-z][\w ]{6,40}[=:(]/;

/** Returns the records below the heading of the list. Without notifications the heading is missing. */
function recordsIn(dump: string, keys: readonly string[] | undefined): NotificationRecord[] {
  const lines = dump.split('\n');
  const start = lines.indexOf('  Notification List:') + 1;
  if (start === 0) return [];
  const end = lines.findIndex((line, index) => index >= start && nextHeading.test(line));
  const list = lines.slice(start, end === -1 ? undefined : end);
  const heads = list.flatMap((line, index) => headAt(line, index, keys));
  requireOnce(heads);
  return heads.map(({ packageName, key, index }, place) => ({
    packageName,
    key,
    head: list[index] ?? '',
    lines: list.slice(index + 1, heads[place + 1]?.index),
  }));
}

interface Head {
  readonly packageName: string;
  readonly key: string;
  readonly index: number;
}

/**
 * Parses the first line of a record. Skips a line that an app has forged, because no notification has its key. Throws
 * for a tag with a line end, which hides where the tag ends.
 */
function headAt(line: string, index: number, keys: readonly string[] | undefined): Head[] {
  const match = headForm.exec(line);
  const [, packageName, user, id] = match ?? [];
  if (match === null || packageName === undefined) return [];
  const key = keyIn(line.slice(match[0].length), `${user}|${packageName}|${id}|`);
  if (key === undefined) throw unclear(`${packageName} has one whose tag holds a line end`);
  return keys?.includes(key) === false ? [] : [{ packageName, key, index }];
}

/**
 * Returns the key of a record. The tag occurs by itself and again in the key, and only both together show where it
 * ends.
 */
function keyIn(rest: string, keyStart: string): string | undefined {
  const ends = rest.matchAll(/ importance=-?\d{1,6} key=/g).take(maxTagEnds);
  for (const { index, 0: between } of ends) {
    const key = `${keyStart}${rest.slice(0, index)}|`;
    const keyAt = index + between.length;
    const uid = rest.startsWith(key, keyAt)
      ? /^\d{1,10}(?=: )/.exec(rest.slice(keyAt + key.length, keyAt + key.length + 12))?.[0]
      : undefined;
    if (uid !== undefined) return `${key}${uid}`;
  }
  return undefined;
}

const maxTagEnds = 10;

/** Throws for two records with one key: an app has forged one of them, and nothing shows which. */
function requireOnce(heads: readonly Head[]): void {
  const seen = new Set<string>();
  for (const { key, packageName } of heads) {
    if (seen.has(key)) throw unclear(`one of ${packageName} stands there twice`);
    seen.add(key);
  }
}

export const unclear = (why: string): DriverError =>
  new DriverError('phone_answer_unexpected', `The notifications can't be told apart: ${why}.`);

function keysIn(printed: string): readonly string[] | undefined {
  const keys = printed.split(/\r?\n/).filter((line) => /^-?\d{1,10}\|[\w.]{1,255}\|/.test(line));
  return keys.length === 0 ? undefined : keys;
}
