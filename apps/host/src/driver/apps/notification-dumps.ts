import type { PhoneNotification } from '@phalanx/protocol';

import { DriverError } from '../driver-error.ts';
import { findText, type RecordLines } from './notification-texts.ts';

interface Dumps {
  /** `dumpsys notification`: lengths in place of texts, and so nothing that a sender wrote. */
  readonly lengths: string;
  /** The same with the texts as they are, line ends and all. */
  readonly texts: string;
  /** A line for each notification, `USER|PACKAGE|ID|TAG|UID`. Empty where the phone has no command for it. */
  readonly keys: string;
}

/**
 * Reads notifications out of two dumps: the one without texts says which there are, whose they are, and how long their texts are. A record
 * is found in the other one by its first line, in which the hash of the object is known to nobody outside of Android.
 *
 * AOSP, services/core/java/com/android/server/notification/NotificationRecord.java: dump, dumpNotification, toString.
 */
export function readNotificationDumps({ lengths, texts, keys }: Dumps): {
  notifications: PhoneNotification[];
  /** Whether something has changed between the two dumps. */
  hasChanged: boolean;
  /** Whether the dumps have all notifications that the phone has a key of. */
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

/** Longer than the eight characters of a ticker that are printed even here. */
const nextHeading = /^ {2}[A-Za-z][\w ]{6,40}[=:(]/;

/** Records below the heading of the list. Without notifications there is no heading. */
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

/** The line of a record; not one of an app, whose key no notification has. Throws for a tag with a line end, which hides where it ends. */
function headAt(line: string, index: number, keys: readonly string[] | undefined): Head[] {
  const match = headForm.exec(line);
  const [, packageName, user, id] = match ?? [];
  if (match === null || packageName === undefined) return [];
  const key = keyIn(line.slice(match[0].length), `${user}|${packageName}|${id}|`);
  if (key === undefined) throw unclear(`${packageName} has one whose tag holds a line end`);
  return keys?.includes(key) === false ? [] : [{ packageName, key, index }];
}

/** The tag stands once by itself and once in the key: only together they tell where it ends. */
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

/** Two records with one key: one of them is written by an app, and nothing says which. */
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
