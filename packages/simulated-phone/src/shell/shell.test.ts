import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeApk } from '../android/packages/apk.ts';
import { startPhoneWithShell } from '../testing/phones.ts';

test.each([
  ['echo \'a  b\' "c $? \\"d\\"" e\\ f', 'a  b c 0 "d" e f\n'],
  ["echo 'it'\\''s'", "it's\n"],
  ['false; echo $?', '1\n'],
  ['true && echo yes || echo no', 'yes\n'],
  ['false && echo yes || echo no', 'no\n'],
  ['(echo a; echo b) | tail -n 1', 'b\n'],
  ['echo "x|y;z&&w"', 'x|y;z&&w\n'],
  ['getprop | grep "ro.product.model" | head -1', '[ro.product.model]: [Simulated Phone]\n'],
  ['echo one > /sdcard/f; echo two >> /sdcard/f; cat /sdcard/f; rm /sdcard/f', 'one\ntwo\n'],
  ['ls /nope 2>/dev/null; echo $?', '1\n'],
  ['ls /nope 2>&1 | grep -c nope', '1\n'],
  ['A=5; echo ${A}$A', '55\n'],
  ['echo a # comment', 'a\n'],
  ['[ -d /sdcard ] && [ ! -f /sdcard/none ] && echo there', 'there\n'],
  ["sh -c 'echo a; exit_code; echo $?' 2>/dev/null", 'a\n127\n'],
  ["echo 'ünï→😀'", 'ünï→😀\n'],
])('%s prints %j', async (commandLine, stdout) => {
  const { shell } = await startPhoneWithShell();
  expect((await shell(commandLine)).stdout).toBe(stdout);
});

test.each(["echo 'open", 'echo "open', 'echo |', '(echo', ') x', 'a && && b'])(
  '%j is a syntax error',
  async (line) => {
    const { shell } = await startPhoneWithShell();
    const result = await shell(line);
    expect(result.exitCode).toBe(1);
    expect(result.stderr).toMatch(/^\/system\/bin\/sh: /);
  },
);

test('wm prints size and density, and an override besides', async () => {
  const { shell } = await startPhoneWithShell();
  expect((await shell('wm size; wm density')).stdout).toBe(
    'Physical size: 1080x2400\nPhysical density: 420\n',
  );
  await shell('wm size 720x1600');
  expect((await shell('wm size')).stdout).toBe('Physical size: 1080x2400\nOverride size: 720x1600\n');
  expect((await shell('wm size reset; wm size')).stdout).toBe('Physical size: 1080x2400\n');
});

test('am start waits, says what it started and the focus follows', async () => {
  const { shell } = await startPhoneWithShell();
  const { stdout } = await shell('am start -W -n com.android.settings/.SettingsActivity');
  expect(stdout).toContain(
    'Status: ok\nLaunchState: COLD\nActivity: com.android.settings/.SettingsActivity\n',
  );
  expect((await shell('dumpsys window | grep mCurrentFocus')).stdout).toMatch(
    /^ {2}mCurrentFocus=Window\{\w+ u0 com\.android\.settings\/com\.android\.settings\.SettingsActivity\}\n$/,
  );
  expect((await shell('dumpsys activity activities')).stdout).toContain(
    'topResumedActivity=ActivityRecord{8d1f0a2 u0 com.android.settings/',
  );
  expect((await shell('am start -n no.such/.App')).stderr).toContain(
    'Error: Activity class {no.such/no.such.App} does not exist.',
  );
});

test('packages are listed, resolved and uninstalled', async () => {
  const { shell } = await startPhoneWithShell();
  expect((await shell('pm list packages -3 --show-versioncode form')).stdout).toBe(
    'package:dev.phalanx.sample.form versionCode:14\n',
  );
  const resolved = await shell(
    'cmd package resolve-activity --brief -c android.intent.category.LAUNCHER dev.phalanx.sample.form | tail -1',
  );
  expect(resolved.stdout).toBe('dev.phalanx.sample.form/.FormActivity\n');
  expect((await shell('pm path dev.phalanx.sample.form')).stdout).toMatch(
    /^package:\/data\/app\/.*\/base\.apk\n$/,
  );
  expect((await shell('pm uninstall dev.phalanx.sample.form')).stdout).toBe('Success\n');
  expect((await shell('pm path dev.phalanx.sample.form')).exitCode).toBe(1);
  expect((await shell('monkey -p dev.phalanx.sample.form 1')).exitCode).toBe(252);
});

test('something that is no APK is not installed', async () => {
  const { shell } = await startPhoneWithShell();
  const named = await shell('echo not an apk > /data/local/tmp/x.apk; pm install -r /data/local/tmp/x.apk');
  expect(named.stderr).toContain('Error: Failed to parse APK file: /data/local/tmp/x.apk\n');
  expect(named.exitCode).toBe(255);
  const streamed = await shell('cmd package install -S 11 < /data/local/tmp/x.apk');
  expect(streamed.stdout).toContain('Failure [INSTALL_PARSE_FAILED_NOT_APK');
});

test('input text types spaces as %s and throws for anything but ASCII', async () => {
  const { phone, shell } = await startPhoneWithShell();
  phone.android.startActivity('dev.phalanx.sample.form');
  await shell('input keyevent TAB; input tap 500 400');
  await shell("input text 'Ada%sL.'");
  expect(phone.android.findFieldText('name')).toBe('Ada L.');
  const failed = await shell("input text 'ü'");
  expect(failed.stderr).toContain('java.lang.NullPointerException');
  expect(failed.exitCode).toBe(255);
  await shell('input keyevent KEYCODE_DEL 67 29');
  expect(phone.android.findFieldText('name')).toBe('Ada a');
});

test('uiautomator dump writes the file, or the terminal, and says where', async () => {
  const { shell } = await startPhoneWithShell();
  expect((await shell('uiautomator dump')).stdout).toBe('UI hierchary dumped to: /sdcard/window_dump.xml\n');
  const { stdout } = await shell('cat /sdcard/window_dump.xml');
  expect(stdout).toMatch(
    /^<\?xml version='1\.0' encoding='UTF-8' standalone='yes' \?><hierarchy rotation="0"><node /,
  );
  expect(stdout).toMatch(/<\/hierarchy>$/);
  const direct = await shell('uiautomator dump --compressed /dev/tty');
  expect(direct.stdout).toMatch(/<\/hierarchy>UI hierchary dumped to: \/dev\/tty\n$/);
  expect(direct.stdout.length).toBeLessThan(stdout.length);
});

test.each([
  ['idle', 'ERROR: could not get idle state.\n', 0],
  ['null-root', 'ERROR: null root node returned by UiTestAutomationBridge.\n', 0],
  ['killed', 'Killed \n', 137],
] as const)('the uiautomator fault %s writes no file', async (fault, stderr, exitCode) => {
  const { phone, shell } = await startPhoneWithShell();
  phone.faults.uiautomator = fault;
  expect(await shell('uiautomator dump /sdcard/d.xml')).toEqual({ stdout: '', stderr, exitCode });
  expect(phone.android.files.findStat('/sdcard/d.xml')).toBeUndefined();
});

test('a phone that has not booted says so and has no package manager', async () => {
  const { phone, shell } = await startPhoneWithShell();
  phone.faults.bootNotCompleted = true;
  expect((await shell('getprop sys.boot_completed')).stdout).toBe('\n');
  expect(await shell('pm list packages')).toMatchObject({
    exitCode: 20,
    stderr: "cmd: Can't find service: package\n",
  });
});

test('settings are kept, and a missing one is null', async () => {
  const { shell } = await startPhoneWithShell();
  await shell('settings put global window_animation_scale 0');
  expect(
    (await shell('settings get global window_animation_scale; settings get system nothing')).stdout,
  ).toBe('0\nnull\n');
});

test('head and grep -q end a program that would never end', async () => {
  const { shell } = await startPhoneWithShell();
  expect((await shell('logcat | head -n 1')).stdout).toBe('--------- beginning of main\n');
  expect((await shell('logcat | grep -q main')).exitCode).toBe(0);
});

test('noise and warnings stand before the XML and the picture', async () => {
  const { phone, shell, adb } = await startPhoneWithShell();
  phone.faults.uiautomator = 'noise-before-xml';
  phone.faults.screencapWarning = true;
  expect((await shell('uiautomator dump /dev/tty')).stdout).toMatch(/^ro\.vivo[^<]*\n<\?xml /);
  const picture = Buffer.from(await adb.subprocess.noneProtocol.spawnWait('screencap -p'));
  expect(picture.toString('latin1', 0, 9)).toBe('[Warning]');
  expect(picture.includes(await phone.screenshot('png'))).toBe(true);
  phone.faults.clear();
  const clean = Buffer.from(await adb.subprocess.noneProtocol.spawnWait('screencap -p'));
  expect(clean.equals(await phone.screenshot('png'))).toBe(true);
});

test('a phone with restricted debugging refuses input and installation', async () => {
  const { phone, shell } = await startPhoneWithShell();
  phone.faults.restrictedDebugging = true;
  expect((await shell('input tap 1 1')).stderr).toContain('INJECT_EVENTS');
  const apk = makeApk({ packageName: 'com.example', versionCode: 1, versionName: '1', minSdkVersion: 26 });
  phone.android.files.writeFile('/sdcard/x.apk', apk);
  expect((await shell('pm install /sdcard/x.apk')).stdout).toContain('INSTALL_FAILED_USER_RESTRICTED');
  expect(phone.android.inputs.list()).toEqual([]);
});

test('screencap without -p is a header of four numbers and RGBA', async () => {
  const { adb } = await startPhoneWithShell({ display: { width: 300, height: 500, density: 120 } });
  const raw = Buffer.from(await adb.subprocess.noneProtocol.spawnWait('screencap'));
  expect([0, 4, 8, 12].map((offset) => raw.readUInt32LE(offset))).toEqual([300, 500, 1, 1]);
  expect(raw.length).toBe(16 + 300 * 500 * 4);
});

test('no command line ends the phone, and each has an exit code', async () => {
  const { shell } = await startPhoneWithShell();
  const piece = fc.oneof(
    fc.constantFrom(
      'input',
      'tap',
      'am',
      'start',
      '-n',
      'pm',
      'install',
      '-S',
      'cmd',
      'package',
      'wm',
      'size',
      'dumpsys',
    ),
    fc.constantFrom(
      '|',
      '&&',
      ';',
      '(',
      ')',
      '>',
      '<',
      '"',
      "'",
      '\\\\',
      '$?',
      '${',
      '/sdcard/x',
      '-1',
      '99999999999',
    ),
    fc.string({ maxLength: 8 }),
  );
  const line = fc.array(piece, { minLength: 1, maxLength: 8 }).map((words) => `true ${words.join(' ')}`);
  await fc.assert(
    fc.asyncProperty(line, async (commandLine) => {
      const { exitCode } = await shell(
        `${commandLine.replaceAll('sleep', '').replaceAll('logcat', '')} </dev/null`,
      );
      expect(exitCode).toBeLessThan(256);
    }),
    { numRuns: 60 },
  );
  expect((await shell('echo alive')).stdout).toBe('alive\n');
});

test('a command line of a megabyte is refused at once', async () => {
  const { shell } = await startPhoneWithShell();
  expect(await shell('\\a'.repeat(300_000))).toMatchObject({
    exitCode: 1,
    stderr: '/system/bin/sh: Argument list too long\n',
  });
});
