import { randomInt } from 'node:crypto';

import type { Notification } from '../../android/notices.ts';
import type { Phone } from '../../phone.ts';

const firstWithLengths = 29;

/** Identity hash that Android prints, which is unpredictable from outside, and the ID that the app gave. */
const known = new WeakMap<Notification, { hash: string; id: number }>();
let lastId = 0;

function objectOf(notification: Notification): { hash: string; id: number } {
  const object = known.get(notification) ?? { hash: randomInt(0x10000000).toString(16), id: (lastId += 1) };
  known.set(notification, object);
  return object;
}

const uid = 10_101;

export const notificationKey = (notification: Notification): string =>
  `0|${notification.packageName}|${objectOf(notification).id}|${notification.tag ?? null}|${uid}`;

interface Redaction {
  readonly isRedacted: boolean;
  readonly showsLengths: boolean;
}

function textExtra(name: string, value: string | undefined, redaction: Redaction): string {
  const length = redaction.showsLengths ? ` [length=${value?.length}]` : '';
  return value === undefined
    ? ''
    : `                ${name}=String${redaction.isRedacted ? length : ` (${value})`}\n`;
}

function arrayExtra(name: string, values: readonly string[] | undefined, { isRedacted }: Redaction): string {
  if (values === undefined) return '';
  const shown = isRedacted ? [] : values.map((value, index) => `\n                  [${index}] ${value}`);
  return `                ${name}=CharSequence[] (${values.length})${shown.join('')}\n`;
}

function shownTicker(
  { title, text, ticker = `${title}: ${text}` }: Notification,
  { isRedacted }: Redaction,
): string {
  return isRedacted ? `${ticker.length > 16 ? ticker.slice(0, 8) : ''}...` : ticker;
}

/** Formats NotificationRecord.dumpNotification; the title of an action is printed in full, redacted or not. */
function body(notification: Notification, redaction: Redaction): string {
  const { title, text, lines, actions = [] } = notification;
  const rows = actions.map((action, index) => `                [${index}] "${action}" -> PendingIntent{1}\n`);
  return (
    `            tickerText=${shownTicker(notification, redaction)}\n            vis=0\n            contentView=null\n            color=0x00000000\n` +
    (rows.length > 0 ? `            actions={\n${rows.join('')}              }\n` : '') +
    '            extras={\n' +
    textExtra('android.title', title, redaction) +
    arrayExtra('android.textLines', lines, redaction) +
    '                android.appInfo=ApplicationInfo (ApplicationInfo{5c1a2 app})\n' +
    textExtra('android.text', text, redaction) +
    '                android.template=String (android.app.Notification$BigTextStyle)\n            }\n'
  );
}

/** AOSP, services/core/java/com/android/server/notification/NotificationRecord.java: dump, toString. */
function record(notification: Notification, redaction: Redaction): string {
  const { packageName, tag = null, publicVersion } = notification;
  const { hash, id } = objectOf(notification);
  const key = notificationKey(notification);
  return (
    `    NotificationRecord(0x${hash.padStart(8, '0')}: pkg=${packageName} user=UserHandle{0} id=${id} tag=${tag} importance=3 key=${key}: Notification(channel=C shortcut=null))\n` +
    `      uid=${uid} userId=0\n      opPkg=${packageName}\n      key=${key}\n      notification=\n${body(notification, redaction)}` +
    `      publicNotification=\n${publicVersion === undefined ? '            None\n' : body({ ...notification, ...publicVersion, lines: undefined }, redaction)}` +
    '      stats=NotificationStats\n      mImportance=DEFAULT\n'
  );
}

/**
 * Prints `dumpsys notification`. Texts are reduced to their lengths (from Android 10 on; before, omitted) unless
 * requested. The list has a heading only if it is not empty (NotificationManagerService.java, dumpImpl).
 */
export function notificationDump({ android }: Phone, args: readonly string[]): string {
  const isRedacted = !args.includes('--noredact') && !args.includes('--reveal');
  const redaction = { isRedacted, showsLengths: android.identity.sdkVersion >= firstWithLengths };
  const records = android.notices.notifications.map((notification) => record(notification, redaction));
  const list = records.length === 0 ? '' : `  Notification List:\n${records.join('')}  \n`;
  return `Current Notification Manager state:\n${list}  mArchive=Archive (0 notifications)\n`;
}
