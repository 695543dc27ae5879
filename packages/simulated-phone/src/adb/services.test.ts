import { randomBytes } from 'node:crypto';
import {
  type MaybeConsumable,
  type ReadableStream,
  ReadableStream as WebReadable,
} from '@yume-chan/stream-extra';
import { expect, test } from 'vitest';
import { RawClient } from '../testing/raw-client.ts';
import { startPhone, startPhoneWithShell } from '../testing/phones.ts';
import { adbCommand } from './adb-message.ts';
import { encodeShellPacket, shellPacket } from './shell-service.ts';

function streamOf(bytes: Buffer): ReadableStream<MaybeConsumable<Uint8Array>> {
  return new WebReadable({
    start(controller) {
      for (let start = 0; start < bytes.length; start += 50_000)
        controller.enqueue(bytes.subarray(start, start + 50_000));
      controller.close();
    },
  });
}

async function collect(stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

test('shell v2 gives exit codes and keeps standard error apart', async () => {
  const { shell } = await startPhoneWithShell();
  expect(await shell('echo out; ls /nowhere; false')).toEqual({
    stdout: 'out\n',
    stderr: 'ls: /nowhere: No such file or directory\n',
    exitCode: 1,
  });
  expect(await shell('frobnicate')).toEqual({
    stdout: '',
    stderr: '/system/bin/sh: frobnicate: inaccessible or not found\n',
    exitCode: 127,
  });
});

test('standard input reaches a program and ends with close-stdin', async () => {
  const phone = await startPhone();
  const client = new RawClient(phone.port);
  await client.connect();
  const deviceId = await client.open('shell,v2,raw:cat');
  client.send(adbCommand.wrte, 1, deviceId, encodeShellPacket(shellPacket.stdin, Buffer.from('hello')));
  const answers = [await client.next(), await client.next()];
  const echoed = answers.find((message) => message.command === adbCommand.wrte);
  expect(echoed?.payload).toEqual(encodeShellPacket(shellPacket.stdout, Buffer.from('hello')));
  client.send(adbCommand.okay, 1, deviceId);
  client.send(adbCommand.wrte, 1, deviceId, encodeShellPacket(shellPacket.closeStdin, Buffer.alloc(0)));
  const rest = [await client.next(), await client.next()];
  const exit = rest.find((message) => message.command === adbCommand.wrte);
  expect(exit?.payload).toEqual(encodeShellPacket(shellPacket.exit, Buffer.from([0])));
});

test('a shell packet that announces too much closes its stream only', async () => {
  const phone = await startPhone();
  const client = new RawClient(phone.port);
  await client.connect();
  const deviceId = await client.open('shell,v2,raw:cat');
  client.send(adbCommand.wrte, 1, deviceId, Buffer.from([0, 255, 255, 255, 255]));
  const answers = [await client.next(), await client.next()];
  expect(answers.map((message) => message.command)).toContain(adbCommand.clse);
  expect(await client.open('exec:true', 2)).toBeGreaterThan(0);
});

test('an interactive shell prompts, runs lines and ends with exit', async () => {
  const { adb, phone } = await startPhoneWithShell();
  const shell = await adb.subprocess.noneProtocol.spawn('');
  const writer = shell.stdin.getWriter();
  await writer.write(Buffer.from('getprop ro.serialno\nexit\n'));
  const output = await collect(shell.output);
  expect(output.toString()).toContain(phone.serial);
});

test('five megabytes come through exec byte for byte', async () => {
  const { adb, phone } = await startPhoneWithShell();
  const bytes = randomBytes(5_000_000);
  phone.android.files.writeFile('/sdcard/big', bytes);
  const output = await adb.subprocess.noneProtocol.spawnWait('cat /sdcard/big');
  expect(bytes.equals(output)).toBe(true);
});

test('a file is pushed, listed and pulled byte for byte', async () => {
  const { adb, phone } = await startPhoneWithShell();
  const bytes = randomBytes(1_234_567);
  const sync = await adb.sync();
  await sync.write({
    filename: '/sdcard/new/folder/file.bin',
    file: streamOf(bytes),
    permission: 0o600,
    mtime: 1_700_000_000,
  });
  expect(phone.android.files.readFile('/sdcard/new/folder/file.bin').equals(bytes)).toBe(true);
  const stat = await sync.stat('/sdcard/new/folder/file.bin');
  expect(Number(stat.size)).toBe(bytes.length);
  expect(stat.permission).toBe(0o600);
  const entries = await sync.readdir('/sdcard/new/folder');
  expect(entries.map((entry) => entry.name)).toEqual(['.', '..', 'file.bin']);
  expect((await collect(sync.read('/storage/emulated/0/new/folder/file.bin'))).equals(bytes)).toBe(true);
  await sync.dispose();
});

test('pushing outside the writable folders or beyond the capacity fails with a reason', async () => {
  const { adb } = await startPhoneWithShell({ storageBytes: 1000 });
  const sync = await adb.sync();
  const push = (filename: string, size: number) =>
    sync.write({ filename, file: streamOf(Buffer.alloc(size)) });
  await expect(push('/system/x', 10)).rejects.toThrow('Read-only file system');
  await expect(push('/sdcard/x', 1001)).rejects.toThrow('No space left on device');
  await push('/sdcard/x', 1000);
  await expect(collect(sync.read('/sdcard/none'))).rejects.toThrow('No such file or directory');
  await sync.dispose();
});

test('root, remount and reverse are refused as by a production build', async () => {
  const phone = await startPhone();
  const client = new RawClient(phone.port);
  await client.connect();
  await client.open('root:', 1);
  expect((await client.next()).payload.toString()).toBe('adbd cannot run as root in production builds\n');
  await client.open('reverse:forward:tcp:1;tcp:2', 2);
  expect((await client.next()).payload.toString()).toMatch(/^FAIL0+/);
});

test('a device socket that nobody listens on is refused', async () => {
  const phone = await startPhone();
  const client = new RawClient(phone.port);
  await client.connect();
  expect(await client.open('tcp:6790')).toBe(0);
  expect(await client.open('localabstract:scrcpy')).toBe(0);
});

test('the number of a port needs the NUL that adb sends', async () => {
  const phone = await startPhone({ installedPackages: uiAutomator2Packages });
  const client = new RawClient(phone.port);
  await client.connect();
  await client.open(`exec:${instrument}`);
  await client.next();
  client.send(adbCommand.open, 2, 0, Buffer.from('tcp:6790'));
  expect(await client.next()).toMatchObject({ command: adbCommand.clse });
  client.send(adbCommand.open, 2, 0, Buffer.from('shell:echo 1'));
  expect(await client.next()).toMatchObject({ command: adbCommand.okay });
});

test.each([
  ['exec:', true],
  ['shell,v2,raw:', false],
])('what %s started outlives its connection: %s', async (service, outlives) => {
  const { phone, shell, adb } = await startPhoneWithShell({ installedPackages: uiAutomator2Packages });
  const client = new RawClient(phone.port);
  await client.connect();
  await client.open(`${service}${instrument}`);
  await client.next();
  const isTaken = async () => (await shell('uiautomator dump')).exitCode === 137;
  expect(await isTaken()).toBe(true);
  client.socket.destroy();
  if (outlives) await expect.poll(() => phone.connectionCount).toBe(1);
  await expect.poll(isTaken).toBe(outlives);
  // The server's process survives in both cases.
  await adb.createSocket('tcp:6790');
});

const instrument =
  'am instrument -w io.appium.uiautomator2.server.test/androidx.test.runner.AndroidJUnitRunner';

const uiAutomator2Packages = ['io.appium.uiautomator2.server', 'io.appium.uiautomator2.server.test'].map(
  (name) => ({
    name,
    versionCode: 278,
    versionName: '10.6.6',
  }),
);
