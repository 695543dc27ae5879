import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

import { readDescription } from '../../phones/start/read-description.ts';
import { sampleFacts } from '../../phones/health/phone-health.ts';
import { readAppFacts } from '../apps/app-facts.ts';
import { listUsers, openLink, stopApp } from '../apps/apps.ts';
import { listApps } from '../apps/change-apps.ts';
import { readCurrentApp } from '../apps/front-app.ts';
import { findKeyboard } from '../apps/keyboard.ts';
import { createHomeFinder } from '../apps/limited-apps.ts';
import { readNotificationDumps } from '../apps/notification-dumps.ts';
import { listMessages } from '../apps/text-messages.ts';
import { Display } from '../display.ts';
import { DriverError } from '../driver-error.ts';
import { listVisibleWindows } from '../fallback/visible-windows.ts';
import { findMainPanel } from '../pictures/main-panel.ts';
import { explainerOf } from '../pictures/missing-picture.ts';
import { parseTree } from '../tree/parse-tree.ts';
import { scanFile } from './media-scan.ts';
import { type OutputBounds, shortLines } from './phone-output.ts';
import type { PhoneShell } from './phone-shell.ts';

const { signal } = new AbortController();

/** Readers of a phone's output, by their files. */
const readers: Readonly<Record<string, (shell: PhoneShell) => Promise<unknown>>> = {
  'driver/apps/apps.ts': async (shell) => {
    await listUsers(shell, signal).catch(() => {});
    await stopApp(shell, { packageName: 'com.example', user: 1 }, signal).catch(() => {});
    await openLink(shell, { url: 'shop://x' }, signal).catch(() => {});
  },
  'driver/apps/keyboard.ts': (shell) => findKeyboard(shell, signal),
  'driver/fallback/visible-windows.ts': (shell) => listVisibleWindows(shell, signal),
  'driver/shell/media-scan.ts': async (shell) => {
    for (const sdkVersion of [26, 34])
      await scanFile(shell, { path: '/sdcard/Download/a.txt', sdkVersion }, signal).catch(() => {});
  },
  'driver/apps/front-app.ts': (shell) => readCurrentApp(shell, signal).catch(() => {}),
  'driver/apps/app-facts.ts': (shell) => readAppFacts(shell, 'com.example', signal),
  'driver/apps/notifications.ts': async (shell) => {
    const { stdout } = await shell.runWhole('', signal, Infinity);
    const texts = `    ${head('com.chat')}\n${stdout}`;
    for (const list of [stdout, lengthsOf('String [length=1]'), lengthsOf('String')])
      readOrRefuse(() => readNotificationDumps({ lengths: list, texts, keys: '' }));
  },
  'driver/apps/change-apps.ts': (shell) => listApps(shell, { user: 1 }, signal).catch(() => {}),
  'driver/apps/limited-apps.ts': (shell) => createHomeFinder(shell)(signal).catch(() => {}),
  'driver/apps/text-messages.ts': (shell) => listMessages(shell, { since: 0 }, signal).catch(() => {}),
  'driver/display.ts': (shell) => {
    const front = parseTree(
      '<hierarchy rotation="0"><node package="a.b" bounds="[0,0][10,10]"/></hierarchy>',
    );
    return new Display(shell, { screenWidth: 1, screenHeight: 1 }).confirm(front, signal).catch(() => {});
  },
  'driver/pictures/main-panel.ts': (shell) => findMainPanel(shell, signal).catch(() => {}),
  'driver/pictures/missing-picture.ts': (shell) => explainerOf(shell, 'com.example')(),
  'phones/health/phone-health.ts': (shell) => sampleFacts(shell, () => 0),
  'phones/start/read-description.ts': (shell) => readDescription(shell, signal).catch(() => {}),
};

const head = (name: string): string =>
  `NotificationRecord(0x0a1: pkg=${name} user=UserHandle{0} id=1 tag=null importance=3 key=0|${name}|1|null|1000: Notification())`;
const lengthsOf = (title: string): string =>
  `  Notification List:\n    ${head('com.chat')}\n                android.title=${title}\n                android.text=${title}\n  mArchive=`;

function readOrRefuse(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    expect(error).toBeInstanceOf(DriverError);
  }
}

/** Readers that search for a word, or for the beginning of a line, without an open repetition. */
const lookers = [
  'driver/driver.ts',
  'driver/fallback/fallback-backend.ts',
  'driver/fallback/input-text.ts',
  'driver/hide-keyboard.ts',
  'driver/masks/masked-screen.ts',
  'driver/resident/resident-backend.ts',
  'driver/rotate.ts',
  'driver/settings/change-settings.ts',
  'driver/shell/phone-files.ts',
  'driver/uiautomator2/start-helper.ts',
  'driver/uiautomator2/uiautomator2-backend.ts',
  'phones/health/keep-alive.ts',
  'phones/identity/one-phone.ts',
  'phones/identity/phone-identity.ts',
  'phones/phone-pins.ts',
  'phones/phone-session.ts',
];

/** Modules that return output to their callers unchanged. */
const runners = ['driver/shell/phone-shell.ts', 'driver/shell/ask-together.ts'];

/** Beginnings of hostile output, which is repeated: each begins what some reader searches for. */
const pieces = [
  'NotificationRecord(',
  '  android.title=String (a)',
  '\n                android.title=String (a)',
  ' importance=3 key=0|com.chat|1|',
  '    NotificationRecord(0x0a1: pkg=com.chat user=UserHandle{0} id=1 tag=',
  'UserInfo{1:a:',
  'user ',
  '  mCurrentFocus=Window{a u0 ',
  'mCurrentFocus=Window{a',
  '  mFocusedApp=ActivityRecord{a u0 a',
  'mFocusedApp= a',
  'ResumedActivity a',
  ' u0 a.b/',
  ' package=a',
  '  versionName=',
  'package:a.b',
  'Row: 0 _id=1, date=1, address=',
  '  Window #0 ',
  '    mOwnerUid=1 package=',
  ' fl=A',
  'Screen capture disallowed users: [',
  'Display 1 (HWC display 0)\nDisplay 2 (HWC display 1)\n',
  "displayId=0, uniqueId='local:",
  '    showing=',
  '1 ',
  '\t',
  '  Notification List:\n',
  'Users:\n\tUserInfo{1:a:',
  'package:android\n',
  '  Display: mDisplayId=1',
  'Status: ok',
  '\nStatus: ok\nActivity: a',
  'Error: a',
  '\n',
];

/** Returns the shell of a phone that prints the same for every command. */
function shellPrinting(text: string): PhoneShell {
  const answer = { stdout: text, stderr: text, exitCode: 0 };
  const shell = {
    connection: { gone: signal },
    run: async (_command: string, _signal: AbortSignal, bounds?: OutputBounds) => ({
      ...answer,
      stdout: shortLines(answer.stdout, bounds),
      stderr: shortLines(answer.stderr, bounds),
    }),
    runWhole: async () => answer,
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- readers use nothing else
  return shell as unknown as PhoneShell;
}

const kilobyte = 1024;

/** Returns the lowest of several durations in ms, because other load on the machine only adds to them. */
async function costOf(read: (shell: PhoneShell) => Promise<unknown>, text: string): Promise<number> {
  const shell = shellPrinting(text);
  let least = Infinity;
  for (let time = 0; time < 3; time += 1) {
    const before = process.cpuUsage();
    await read(shell);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

const fill = (piece: string, bytes: number): string => piece.repeat(Math.ceil(bytes / piece.length));
const inLines = (piece: string, bytes: number): string => {
  const line = `${fill(piece, 900).slice(0, 900)}\n`;
  return fill(line, bytes);
};

describe.each(Object.keys(readers))('%s reads hostile output', (file) => {
  const read = readers[file] ?? (async () => {});

  it.each([
    ['in one line', fill],
    ['in long lines', inLines],
  ] as const)('%s, in time that grows with its length', async (_, write) => {
    for (const piece of pieces) {
      const small = await costOf(read, write(piece, 16 * kilobyte));
      const large = await costOf(read, write(piece, 64 * kilobyte));
      // Four times the input would take sixteen times as long at quadratic cost. A millisecond counts as nothing.
      expect((large + 2) / (small + 2), JSON.stringify(piece)).toBeLessThan(9);
    }
  });
});

it('a file that runs commands on phones is in one of the lists', () => {
  const root = join(import.meta.dirname, '../..');
  const running = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter(({ name }) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)))
    .filter((path) =>
      /\b(?:shell\s*\.run(?:Whole)?|askTogether|askWhole)\(/.test(readFileSync(join(root, path), 'utf8')),
    )
    .filter((path) => !path.includes('testing/') && !runners.includes(path));
  expect(running.toSorted()).toEqual([...Object.keys(readers), ...lookers].toSorted());
});

describe('what a phone prints', () => {
  it('has no lines that are longer than those of Android', () => {
    expect(shortLines(`a\n${'x'.repeat(1001)}\nb\n`)).toBe('a\nb\n');
    expect(shortLines('x'.repeat(1000))).toHaveLength(1000);
    expect(shortLines(`${'x'.repeat(5000)}\n`, { maxLineLength: 6000 })).toHaveLength(5001);
  });
});

describe('the app in front', () => {
  const front = (windows: string, activities = ''): Promise<unknown> => {
    const print = (command: string): string => (command.includes('activity') ? activities : windows);
    const shell = shellPrinting('');
    return readCurrentApp(
      { ...shell, run: async (command) => ({ stdout: print(command), stderr: '', exitCode: 0 }) },
      signal,
    ).catch((error: unknown) => (error instanceof DriverError ? error.code : error));
  };
  const focus = (title: string): string => `  mCurrentFocus=Window{5c3e4b1 u0 ${title}}\n`;
  const focused = (component: string): string => `  mFocusedApp=ActivityRecord{8d1f0a2 u0 ${component} t7}\n`;

  it.each([
    ['whose window says what it is', focus('a.b/a.b.Main') + focused('a.b/.Main'), 'a.b', 'a.b.Main'],
    [
      'whose window says that it is another',
      focus('a.bank/a.bank.Main') + focused('a.b/.Main'),
      'a.b',
      'a.b.Main',
    ],
    ['below the shade', focus('NotificationShade') + focused('a.b/.Main'), 'com.android.systemui', null],
    [
      'below a window with the name of another',
      focus('a.bank') + focused('a.b/.Main'),
      'com.android.systemui',
      null,
    ],
    ['with a window of its own', focus('a.b') + focused('a.b/.Main'), 'a.b', null],
    [
      'on Android 8',
      `  mCurrentFocus=null\n  mFocusedApp=AppWindowToken{1 token=Token{2 ActivityRecord{3 u0 a.b/.Main t1}}}\n`,
      'a.b',
      'a.b.Main',
    ],
    ['that no activity is known of', focus('a.b/a.b.Main'), 'a.b', 'a.b.Main'],
  ])('is the one %s', async (_, windows, packageName, activity) => {
    expect(await front(windows)).toEqual({ packageName, activity });
  });

  it('is that of the main display, also when another one comes first', async () => {
    const display = (id: number, lines: string): string =>
      `  Display: mDisplayId=${id} (organized)\n${lines}`;
    const car = focus('a.map/a.map.Main') + focused('a.map/.Main');
    const windows = (own: string): string =>
      `WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)\n${display(2, car)}${display(0, own)}`;
    const activities = (own: string): string =>
      `Display #2 (activities from top to bottom):\n  topResumedActivity=ActivityRecord{1 u0 a.map/.Main t4}\nDisplay #0 (activities from top to bottom):\n  topResumedActivity=ActivityRecord{1 u0 ${own} t7}\n`;
    const one = { packageName: 'a.b', activity: 'a.b.Main' };
    expect(
      await front(windows(focus('a.b/a.b.Main') + focused('a.b/.Main')), activities('a.b/.Main')),
    ).toEqual(one);
    expect(
      await front(windows('  mCurrentFocus=null\n  mFocusedApp=null\n'), activities('a.b/.Main')),
    ).toEqual(one);
    expect(await front(windows('  mCurrentFocus=null\n  mFocusedApp=null\n'))).toBe('screen_not_readable');
    const title = `a.b/x}\n${focused('a.bank/.Main')}  Display: mDisplayId=5`;
    const forged = windows(focus(title) + focused('a.b/.Main'));
    expect(await front(forged, activities('a.b/.Main'))).toEqual(one);
  });

  it('is the focus that Android 9 tells below the windows of all displays', async () => {
    const displays = '  Display: mDisplayId=0\n  Display: mDisplayId=1\n';
    const windows = `WINDOW MANAGER WINDOWS (dumpsys window windows)\n${focus('a.b/a.b.Main')}${focused('a.b/.Main')}`;
    expect(await front(displays + windows)).toEqual({ packageName: 'a.b', activity: 'a.b.Main' });
  });

  it('is asked for once more when a title has made up a line', async () => {
    const forged = `  mCurrentFocus=Window{1 u0 x\n${focused('a.bank/.Main')}}\n${focused('a.b/.Main')}`;
    const resumed = '  topResumedActivity=ActivityRecord{8d1f0a2 u0 a.b/.Main t7}\n';
    expect(await front(forged, resumed)).toEqual({ packageName: 'a.b', activity: 'a.b.Main' });
  });
});
