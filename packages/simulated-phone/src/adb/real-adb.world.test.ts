import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TEST_APK_PATH } from 'appium-uiautomator2-server';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../testing/free-port.ts';
import { startPhone } from '../testing/phones.ts';

function hasAdb(): boolean {
  try {
    execFileSync('adb', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const isAdbThere = hasAdb();
if (!isAdbThere) {
  console.warn(
    'NOT TESTED: adb is not on PATH, so the simulated phone was not tried with the real adb (apt-get install adb).',
  );
}

test('the real adb is there when tests run for a release', () => {
  expect(isAdbThere || !process.env['CI']).toBe(true);
});

interface Finished {
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly exitCode: number | string;
}

describe.skipIf(!isAdbThere)('the real adb', () => {
  let serverPort = 0;
  let folder = '';

  const adb = (...args: string[]): Promise<Finished> =>
    new Promise((resolve) => {
      // Uses a separate home: adb stores its key there, and another server on this machine stays untouched.
      const env = { ...process.env, HOME: folder, ANDROID_USER_HOME: folder, ADB_MDNS_AUTO_CONNECT: '0' };
      const options = { encoding: 'buffer', maxBuffer: 64 * 1024 * 1024, timeout: 30_000, env } as const;
      execFile('adb', ['-P', String(serverPort), ...args], options, (error, stdout, stderr) =>
        resolve({ stdout, stderr: stderr.toString(), exitCode: error?.code ?? 0 }),
      );
    });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simulated-phone-adb-'));
    serverPort = await freePort();
    await adb('start-server');
  });

  afterAll(async () => {
    await adb('kill-server');
    await rm(folder, { recursive: true, force: true });
  });

  async function connectPhone() {
    const phone = await startPhone({ model: 'Pixel 9' });
    const address = `127.0.0.1:${phone.port}`;
    const { stdout } = await adb('connect', address);
    onTestFinished(async () => void (await adb('disconnect', address)));
    expect(stdout.toString()).toContain(`connected to ${address}`);
    return { phone, address, run: (...args: string[]) => adb('-s', address, ...args) };
  }

  test('lists the phone with product, model and device', async () => {
    const { address } = await connectPhone();
    const { stdout } = await adb('devices', '-l');
    expect(stdout.toString()).toMatch(
      new RegExp(
        `^${address.replaceAll('.', '\\.')} +device product:simulated model:Pixel_9 device:simulated`,
        'm',
      ),
    );
  });

  test('passes exit codes, standard error and quotes', async () => {
    const { run } = await connectPhone();
    const result = await run('shell', "echo 'a  b'; ls /nope; exit_with_nothing");
    expect(result).toMatchObject({ exitCode: 127, stdout: Buffer.from('a  b\n') });
    expect(result.stderr).toContain('ls: /nope: No such file or directory');
  });

  test('takes a screenshot by exec-out', async () => {
    const { phone, run } = await connectPhone();
    const { stdout } = await run('exec-out', 'screencap', '-p');
    expect(stdout.equals(await phone.screenshot('png'))).toBe(true);
  });

  test('pushes and pulls byte for byte', async () => {
    const { run } = await connectPhone();
    const bytes = randomBytes(3_000_001);
    await writeFile(join(folder, 'sent'), bytes);
    expect((await run('push', join(folder, 'sent'), '/sdcard/Download/')).exitCode).toBe(0);
    expect((await run('pull', '/sdcard/Download/sent', join(folder, 'back'))).exitCode).toBe(0);
    expect((await readFile(join(folder, 'back'))).equals(bytes)).toBe(true);
  });

  test('installs and uninstalls an APK', async () => {
    const { phone, run } = await connectPhone();
    const { stdout } = await run('install', '-r', TEST_APK_PATH);
    expect(stdout.toString()).toContain('Success');
    expect(phone.android.packages.find('io.appium.uiautomator2.server.test')).toBeDefined();
    expect((await run('uninstall', 'io.appium.uiautomator2.server.test')).stdout.toString()).toContain(
      'Success',
    );
  });

  test('is let in after the user tapped Allow, and shows unauthorized before', async () => {
    const phone = await startPhone({ requireAuthorization: true });
    const address = `127.0.0.1:${phone.port}`;
    onTestFinished(async () => void (await adb('disconnect', address)));
    const connecting = adb('connect', address);
    await phone.authorization.waitForRequest();
    expect((await adb('devices')).stdout.toString()).toMatch(
      new RegExp(`${address}\\t(?:unauthorized|authorizing|offline)`),
    );
    phone.authorization.allow();
    await connecting;
    await expect.poll(async () => (await adb('devices')).stdout.toString()).toContain(`${address}\tdevice`);
    // The key is known now: adb signs, and no user is asked.
    phone.faults.drop();
    await adb('disconnect', address);
    expect((await adb('connect', address)).stdout.toString()).toContain('connected to');
    await expect.poll(async () => (await adb('devices')).stdout.toString()).toContain(`${address}\tdevice`);
    expect(phone.authorization.requestCount).toBe(0);
  });
});
