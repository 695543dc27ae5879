import { posix } from 'node:path';
import type { HostQuestionOf, SentFile, SentFilePart } from '@phalanx/protocol';

import type { Driver } from '../../driver/driver.ts';
import type { PhoneUse } from '../../driver/phone-use.ts';
import { shellQuote } from '../../driver/shell/phone-shell.ts';
import { defaultFolder } from '../../driver/shell/shared-storage.ts';
import { pause } from '../../time/time-limit.ts';
import type { Phone } from '../phone.ts';
import { minuteMs } from '@phalanx/timing/durations';
import type { AnswerContext } from './answer-context.ts';

/** File names that an installer takes. */
const appFile = /\.(apk|apks|xapk|apkm)$/i;
/** Time within which the caller gets an answer, in milliseconds. Then the caller polls again. */
const answerMs = 8000;
/** Timeout of storing or installing a complete file, in milliseconds: a phone may take minutes to verify an APK. */
const endingMs = 240_000;
/** Maximum pause between two parts of a file before the upload is discarded, in milliseconds. */
const abandonedMs = 10 * minuteMs;

interface Upload {
  readonly path: string;
  nextPart: number;
  touchedAt: number;
  /** Set once the file is complete; settles with the result of storing or installing it. */
  ending: Promise<SentFile> | undefined;
}

type Uploads = Map<string, Upload>;

/** Uploads by use. They are discarded when the use ends. */
const ofUses = new WeakMap<AbortSignal, Uploads>();

function uploadsOf(phone: Phone, { over }: PhoneUse): Uploads {
  const known = ofUses.get(over);
  if (known !== undefined) return known;
  const uploads: Uploads = new Map();
  ofUses.set(over, uploads);
  const discardAll = (): void => {
    for (const { path } of uploads.values()) void discard(phone, path);
  };
  over.addEventListener('abort', discardAll, { once: true });
  return uploads;
}

/** Deletes the file by the phone's own driver, because the driver of an ended use no longer executes calls. */
async function discard(phone: Phone, path: string): Promise<void> {
  try {
    await phone.driver().call('file.delete', { path });
  } catch {
    // A failed deletion has no consequences for the caller.
  }
}

/** Appends a part of a file. With the last part, stores the file in the shared storage or installs it. */
export async function takeFile(
  phone: Phone,
  { file }: HostQuestionOf<'file'>,
  { signal, mayChangeApps, use, driver: getDriver }: AnswerContext,
): Promise<Buffer> {
  if (use === undefined) throw new Error('A file is sent by hand');
  // A file belongs to no app's folder, so the first write refuses a caller that is limited to apps.
  const driver = getDriver();
  if (appFile.test(file.name) && !mayChangeApps)
    throw new Error(
      'To install an app needs PHALANX_ALLOW_APP_CHANGES=true, which the operator of this host has not set',
    );
  const uploads = uploadsOf(phone, use);
  const upload = uploads.get(file.upload_id) ?? begin(phone, uploads, file);
  upload.touchedAt = performance.now();
  if (upload.ending === undefined) await append({ phone, driver, upload, signal }, file);
  if (upload.ending === undefined) return answerOf({ state: 'receiving' });
  const late = pause(answerMs, signal).then((): SentFile => ({ state: 'working' }));
  return answerOf(await Promise.race([upload.ending, late]));
}

const answerOf = (file: SentFile): Buffer => Buffer.from(JSON.stringify(file));

function begin(phone: Phone, uploads: Uploads, { upload_id: id }: SentFilePart): Upload {
  for (const [known, { path, touchedAt }] of uploads) {
    if (performance.now() - touchedAt < abandonedMs) continue;
    uploads.delete(known);
    void discard(phone, path);
  }
  const path = `/data/local/tmp/phalanx-${id}.upload`;
  const upload = { path, nextPart: 0, touchedAt: 0, ending: undefined };
  uploads.set(id, upload);
  return upload;
}

interface Sending {
  readonly phone: Phone;
  readonly driver: Driver;
  readonly upload: Upload;
  readonly signal: AbortSignal;
}

async function append(
  { phone, driver, upload, signal }: Sending,
  { part, is_last: isLast, base64, name, folder = defaultFolder(name) }: SentFilePart,
): Promise<void> {
  if (part !== upload.nextPart)
    throw new Error(`Part ${part} of the file came in place of part ${upload.nextPart}: send it again`);
  upload.nextPart += 1;
  await driver.call('file.write', { path: upload.path, base64, isFirst: part === 0 }, signal);
  if (!isLast) return;
  upload.ending = finish({ phone, driver, path: upload.path }, { name, folder });
  upload.ending.catch(() => {});
}

async function finish(
  { phone, driver, path }: { phone: Phone; driver: Driver; path: string },
  { name, folder }: { name: string; folder: string },
): Promise<SentFile> {
  const signal = AbortSignal.timeout(endingMs);
  if (!appFile.test(name)) return await store(driver, { path, place: `${folder}/${name}` }, signal);
  try {
    const { notInstalled } = await driver.call('app.install', { path, grantPermissions: false }, signal);
    return { state: 'installed', not_installed: notInstalled };
  } finally {
    void discard(phone, path);
  }
}

/** Moves the file to the place where apps look for it, and makes Android index it. */
async function store(
  driver: Driver,
  { path, place }: { path: string; place: string },
  signal: AbortSignal,
): Promise<SentFile> {
  const command = `mkdir -p ${shellQuote(posix.dirname(place))} && mv ${path} ${shellQuote(place)}`;
  const { exitCode, stderr } = await driver.call('phone.shell', { command, timeoutMs: 60_000 }, signal);
  if (exitCode !== null && exitCode !== 0) throw new Error(`The phone did not store ${place}: ${stderr}`);
  const in_media_store = await driver.call('file.scan', { path: place }, signal);
  return { state: 'stored', path: place, in_media_store };
}
