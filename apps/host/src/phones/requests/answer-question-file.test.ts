import { randomUUID } from 'node:crypto';
import type { HostQuestionOf } from '@phalanx/protocol';
import { makeApk, makeZip } from '@phalanx/simulated-phone';
import { expect, it } from 'vitest';
import type { Arrival } from '../../testing/read-frame.ts';
import { serial, useTestHost } from '../../testing/test-host.ts';

const host = useTestHost();

async function answerTo(request_id: string): Promise<string> {
  const isAnswer = (arrival: Arrival): boolean => 'requestId' in arrival && arrival.requestId === request_id;
  await host.service.until(() => host.service.arrivals.some(isAnswer));
  const found = host.service.arrivals.find(isAnswer);
  if (found !== undefined && 'bytes' in found) return found.bytes.toString();
  throw new Error(JSON.stringify(found));
}

function send(file: HostQuestionOf<'file'>['file']): Promise<string> {
  const request_id = randomUUID();
  host.service.send({ type: 'file', request_id, serial, file });
  return answerTo(request_id);
}

async function sendAll(name: string, parts: readonly Buffer[], folder?: string): Promise<unknown> {
  const upload_id = randomUUID();
  const place = folder === undefined ? {} : { folder };
  let answer = '';
  for (const [part, bytes] of parts.entries()) {
    const is_last = part === parts.length - 1;
    answer = await send({ upload_id, name, ...place, part, is_last, base64: bytes.toString('base64') });
  }
  return JSON.parse(answer);
}

it('a file in parts is in the folder Download, whatever its name has in it, and parts out of order are refused', async () => {
  const name = `it's a $(note) 📄.txt`;
  const path = `/sdcard/Download/${name}`;
  const stored = { state: 'stored', path, in_media_store: true };
  expect(await sendAll(name, [Buffer.from('one, '), Buffer.from('two')])).toEqual(stored);
  expect(host.phone.android.files.readFile(path).toString()).toBe('one, two');
  expect(host.phone.android.mediaStore.find(path)).toBeDefined();
  const part = { upload_id: randomUUID(), name: 'a.txt', part: 1, is_last: true, base64: '' };
  await expect(send(part)).rejects.toThrow('Part 1 of the file came in place of part 0');
});

it('pictures, films and sound go where galleries and players look, or to the folder that is named', async () => {
  const content = [Buffer.from('x')];
  for (const [name, folder] of [
    ['photo.JPG', 'Pictures'],
    ['film.mp4', 'Movies'],
    ['song.mp3', 'Music'],
    ['notes.pdf', 'Download'],
  ] as const)
    expect(await sendAll(name, content)).toMatchObject({ path: `/sdcard/${folder}/${name}` });
  const path = '/sdcard/DCIM/My trip/a.jpg';
  const named = await sendAll('a.jpg', content, '/sdcard/DCIM/My trip');
  expect(named).toEqual({ state: 'stored', path, in_media_store: true });
  const kept = await sendAll('a.jpg', content, '/sdcard/Android/data/com.example.shop');
  expect(kept).toMatchObject({ in_media_store: false });
});

it('an APK is installed where the operator lets apps be changed, and its file goes', async () => {
  const packageName = 'com.example.dropped';
  const apk = makeApk({ packageName, versionCode: 1, versionName: '1', minSdkVersion: 26 });
  await expect(sendAll('made.apk', [apk])).rejects.toThrow('PHALANX_ALLOW_APP_CHANGES');
  await host.stop();
  await host.reopen({ PHALANX_ALLOW_APP_CHANGES: 'true' });
  const installed = { state: 'installed', not_installed: [] };
  expect(await sendAll('made.apk', [apk.subarray(0, 100), apk.subarray(100)])).toEqual(installed);
  const obb = `Android/obb/${packageName}/main.1.${packageName}.obb`;
  const bundle = makeZip([
    ['manifest.json', Buffer.from('{}')],
    ['base.apk', apk],
    [obb, Buffer.from('levels')],
    ['sounds/first.dat', Buffer.from('beep')],
    ['my split.apk', apk],
  ]);
  const partly = { state: 'installed', not_installed: ['sounds/first.dat', 'my split.apk'] };
  expect(await sendAll('made.xapk', [bundle])).toEqual(partly);
  expect(host.phone.android.files.readFile(`/sdcard/${obb}`).toString()).toBe('levels');
  expect(host.phone.android.packages.find(packageName)).toBeDefined();
  await expect(sendAll('broken.apk', [Buffer.from('no APK')])).rejects.toThrow('Failed to parse APK file');
  const sounds = Array.from({ length: 60 }, (_, index) => [`sounds/${index}.dat`, Buffer.alloc(1)] as const);
  expect(await sendAll('loud.xapk', [makeZip([['base.apk', apk], ...sounds])])).toMatchObject({
    not_installed: expect.objectContaining({ length: 50, 0: 'sounds/0.dat', 49: 'and 11 more' }),
  });
});

it('two fingers and the clipboard reach the phone by hand', async () => {
  // UiAutomator2 may not read the clipboard.
  await host.stop();
  await host.reopen({ PHALANX_HELPER: 'resident' });
  const doInput = (input: HostQuestionOf<'input'>['input']): Promise<string> => {
    const request_id = randomUUID();
    host.service.send({ type: 'input', request_id, serial, input });
    return answerTo(request_id);
  };
  await doInput({ type: 'clipboard', text: 'Grüße 🏔' });
  expect(host.phone.android.clipboard).toBe('Grüße 🏔');
  const request_id = randomUUID();
  host.service.send({ type: 'clipboard', request_id, serial });
  expect(JSON.parse(await answerTo(request_id))).toEqual({ text: 'Grüße 🏔' });
  const way = (from_y: number, to_y: number) => ({ from_x: 540, from_y, to_x: 540, to_y });
  expect(await doInput({ type: 'fingers', ways: [way(1000, 600), way(1400, 1800)] })).toBe('');
});
