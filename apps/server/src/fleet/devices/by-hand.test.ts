import { randomUUID } from 'node:crypto';
import type { PhoneInput } from '@phalanx/protocol';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';

import type { ApiReply } from '../../testing/api-caller.ts';
import { SharedPhone, type Caller } from './testing/shared-phone.ts';

const stored = { state: 'stored', path: '/sdcard/Download/notes.txt', in_media_store: true };

/** Answer of the host to an input. */
let inputAnswer = '';

let phone: SharedPhone;
beforeAll(async () => {
  phone = await SharedPhone.start();
  phone.host.answerWith = ({ type, request_id }) => {
    const answers: Partial<Record<string, string>> = {
      clipboard: '{"text":"4711"}',
      file: JSON.stringify(stored),
      input: inputAnswer,
    };
    const answer = answers[type];
    return answer === undefined
      ? undefined
      : Buffer.from(`${JSON.stringify({ type, request_id })}\n${answer}`);
  };
});
afterAll(() => phone.dispose());
beforeEach(() => phone.reset());

const path = (): string => `/api/v2/devices/${phone.deviceId}`;
const readClipboard = (caller: Caller, query = ''): Promise<ApiReply> =>
  phone.api(caller)('GET', `${path()}/clipboard${query}`);
const part = (name: string) => ({
  upload_id: randomUUID(),
  name,
  part: 0,
  is_last: true,
  base64: 'SGVsbG8K',
});
const sendFile = (caller: Caller, body: object = part('notes.txt')): Promise<ApiReply> =>
  phone.api(caller)('POST', `${path()}/files`, { body });
const touch = (body: PhoneInput, query = ''): Promise<ApiReply> =>
  phone.api('owner')('POST', `${path()}/input${query}`, { body });

it('the clipboard is read, and files are sent, by who may touch the phone', async () => {
  for (const caller of ['owner', 'launch', 'launch by the host'] as const) {
    expect((await readClipboard(caller)).body).toEqual({ success: true, text: '4711' });
    expect((await sendFile(caller)).body).toEqual({ success: true, ...stored });
  }
  for (const caller of ['view', 'stranger', 'limited token'] as const) {
    const status = caller === 'stranger' ? 404 : 403;
    expect([(await readClipboard(caller)).status, (await sendFile(caller)).status]).toEqual([status, status]);
  }
});

it('the lease of somebody else is in the way of both, and one that is lost is told of', async () => {
  await phone.lease('launch');
  expect((await readClipboard('owner')).body['code']).toBe('device_leased');
  expect((await sendFile('owner')).body['code']).toBe('device_leased');
  expect((await readClipboard('launch')).status).toBe(200);
  expect((await sendFile('launch')).status).toBe(200);
  expect((await readClipboard('launch', '?lease_id=another')).body['code']).toBe('lease_lost');
});

it('a file goes to a folder of the shared storage alone', async () => {
  const send = (folder: string): Promise<ApiReply> => sendFile('owner', { ...part('a.jpg'), folder });
  for (const folder of ['/sdcard', '/sdcard/DCIM/My trip', '/storage/1A2B-3C4D/Music'])
    expect((await send(folder)).status, folder).toBe(200);
  for (const folder of [
    '',
    'DCIM',
    '/sdcard/../data',
    '/sdcard/.',
    '/sdcardx',
    '/data/local/tmp',
    '/sdcard/a\nb',
  ])
    expect((await send(folder)).body['code'], folder).toBe('invalid_request');
});

it('a name of a file has no folder in it', async () => {
  for (const name of ['../a', 'a/b', '..', '', 'a\nb'])
    expect((await sendFile('owner', part(name))).body['code']).toBe('invalid_request');
});

it('the window that a touch got to is told where it is asked for, and taken from no host that says something else', async () => {
  const tap = (query?: string): Promise<ApiReply> => touch({ type: 'tap', x: 5, y: 5 }, query);
  const window = { package_name: 'com.keys', is_keyboard: true };
  for (const [answer, touched] of [
    [JSON.stringify(window), window],
    ['null', null],
    ['', null],
  ] as const) {
    inputAnswer = answer;
    expect((await tap('?tell_window=true')).body['touched_window']).toEqual(touched);
    expect((await tap()).body).not.toHaveProperty('touched_window');
  }
  for (const answer of [
    '{"package_name":5}',
    '{}',
    JSON.stringify({ ...window, package_name: 'x'.repeat(256) }),
  ]) {
    inputAnswer = answer;
    expect((await tap('?tell_window=true')).body['code']).toBe('host_request_failed');
  }
  inputAnswer = '';
});

it('fingers off the screen are refused, and others are not', async () => {
  const way = { from_x: 10, from_y: 10, to_x: 20, to_y: 20 };
  expect((await touch({ type: 'fingers', ways: [way, way] })).body['message']).toContain('Moved 2 fingers');
  const off = await touch({ type: 'fingers', ways: [way, { ...way, to_y: 90_000 }] });
  expect(off.body['code']).toBe('invalid_request');
  const text = (await touch({ type: 'clipboard', text: 'secret' })).text;
  expect(text).toContain('Put 6 characters on the clipboard');
  expect(text).not.toContain('secret');
});
