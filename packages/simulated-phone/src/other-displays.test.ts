import { expect, test } from 'vitest';
import type { OtherDisplay } from './screen/other-display.ts';
import { startPhoneWithShell } from './testing/phones.ts';

const coverPanel = '4619827551948147201';
const frame = { left: 0, top: 0, right: 748, bottom: 720 };
const cover: OtherDisplay = {
  id: 1,
  physicalId: coverPanel,
  width: 748,
  height: 720,
  density: 320,
  isListedFirst: true,
  activity: 'com.android.systemui/.subscreen.SubHomeActivity',
  focus: 'com.android.systemui/com.android.systemui.subscreen.SubHomeActivity',
  windows: [
    {
      title: 'com.android.systemui/com.android.systemui.subscreen.SubHomeActivity',
      focusable: true,
      root: {
        className: 'android.widget.FrameLayout',
        packageName: 'com.android.systemui',
        frame,
        paint: (canvas) => canvas.rect(frame, '#336699'),
      },
    },
  ],
};
const pngSize = (file: Buffer) => {
  const start = file.indexOf(Buffer.from([0x89, 0x50, 0x4e, 0x47]));
  return start === -1 ? undefined : [file.readUInt32BE(start + 16), file.readUInt32BE(start + 20)];
};

test('a second display has windows, a focus and a panel of its own', async () => {
  const { shell, phone, adb } = await startPhoneWithShell();
  const shot = async (options: string) => {
    const { readable } = await adb.createSocket(`exec:screencap -p${options}`);
    const parts: Uint8Array[] = [];
    for await (const part of readable) parts.push(part);
    return Buffer.concat(parts);
  };
  expect((await shot('')).indexOf('PNG')).toBe(1);
  phone.android.otherDisplays = [cover];
  const displays = (await shell('dumpsys window displays')).stdout;
  expect([...displays.matchAll(/mDisplayId=(\d+)/g)].map(([, id]) => id)).toEqual(['1', '0']);
  expect([...displays.matchAll(/mFocusedApp=.* (\S+\/\S+) t/g)].map(([, app]) => app)).toEqual([
    'com.android.systemui/.subscreen.SubHomeActivity',
    'dev.phalanx.sample.launcher/dev.phalanx.sample.launcher.Launcher',
  ]);
  const windows = (await shell('dumpsys window windows')).stdout;
  expect(windows).toMatch(/SubHomeActivity}:\n {4}mDisplayId=1 /);
  expect((await shell('dumpsys display')).stdout).toContain(`displayId=1, uniqueId='local:${coverPanel}'`);
  const panels = (await shell('dumpsys SurfaceFlinger --display-id')).stdout.match(/^Display \d+/gm);
  expect(panels).toEqual([`Display ${coverPanel}`, 'Display 4619827259835644672']);
  const unasked = await shot('');
  expect(unasked.toString('latin1')).toMatch(/^\[Warning\] Multiple displays/);
  expect(pngSize(unasked)).toEqual([748, 720]);
  expect(pngSize(await shot(' -d 4619827259835644672'))).toEqual([1080, 2400]);
  expect((await shot(' -d 0')).toString()).toContain('Failed to take screenshot. Status: -2');
});

test('a device without a battery has values that nobody has measured', async () => {
  const { shell, phone } = await startPhoneWithShell();
  phone.android.battery.isPresent = false;
  const { stdout } = await shell('dumpsys battery');
  for (const line of ['present: false', 'level: 0', 'temperature: 0', 'health: 1'])
    expect(stdout).toContain(line);
  phone.faults.missingServices = ['battery'];
  expect(await shell('dumpsys battery')).toMatchObject({
    stdout: '',
    stderr: "Can't find service: battery\n",
  });
});

test.each([
  [8, /fl=#8181212[08]/],
  [15, /fl=[A-Z_ ]* SECURE /],
] as const)('a window that forbids pictures says so in Android %i', async (android, form) => {
  const { shell, phone } = await startPhoneWithShell({ android });
  expect((await shell('dumpsys window windows')).stdout).not.toMatch(form);
  phone.faults.secureWindow = true;
  expect((await shell('dumpsys window windows')).stdout.match(new RegExp(form, 'g'))).toHaveLength(1);
});
