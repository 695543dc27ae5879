/** Calls on a phone by a caller who may use a single app. */
import { agentCalls, type PhoneCallName } from '@phalanx/protocol';
import { type App, defineApp, sampleApps, type SimulatedPhone, type View } from '@phalanx/simulated-phone';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Phone } from '../../phones/phone.ts';
import { createPhoneTestBed, type PhoneTestBed, waitForPhone } from '../../phones/testing/phone-test-bed.ts';
import type { Driver } from '../driver.ts';
import { touchedOf } from '../touch/find-touched.ts';

const form = 'dev.phalanx.sample.form';
const settings = 'com.android.settings';
const home = 'dev.phalanx.sample.launcher';

let bed: PhoneTestBed;
let simulated: SimulatedPhone;
let phone: Phone;
/** App that asks for permissions on phones with Google services, and then shows its page with those of all apps. */
const askingPackage = 'com.google.android.permissioncontroller';
const wholeScreen = (onTap: () => void): View => ({
  className: 'android.widget.Button',
  packageName: askingPackage,
  text: 'Allow',
  onTap,
  frame: { left: 0, top: 100, right: 1080, bottom: 2000 },
});
const asking: App = defineApp({
  packageName: askingPackage,
  label: 'Permissions',
  icon: 'M0 0h24v24H0z',
  color: '#204060',
  state: () => ({}),
  activities: {
    '.GrantPermissionsActivity': (app) => () => wholeScreen(() => app.open('.ManagePermissionsActivity')),
    '.ManagePermissionsActivity': () => () => wholeScreen(() => {}),
  },
});
const limited = (apps = [form]): Driver => phone.driver().limitedTo({ apps, token: 'agent' });
const inFront = (packageName: string): Promise<void> => phone.driver().call('app.launch', { packageName });

beforeAll(async () => {
  bed = await createPhoneTestBed();
  simulated = await bed.startPreparedPhone({ serial: 'SIM1', apps: [...sampleApps, asking] });
  phone = await waitForPhone(bed.watch({ addresses: [simulated] }), ({ state }) => state.state === 'ready');
});
afterAll(() => bed.close());

const own = '/sdcard/Android/media/dev.phalanx.sample.form/x';
const point = { x: 500, y: 900 };
const way = { fromX: 500, fromY: 900, toX: 500, toY: 800, durationMs: 50 };
const other = { packageName: settings };
const file = { part: 0, partBytes: 1000, base64: 'YQ==', isFirst: true };

/** Parameters with which each call reaches the other app; undefined for a call that reaches none. */
const reaching: Readonly<
  Record<Exclude<PhoneCallName, 'screen.change' | 'screen.animations'>, object | undefined>
> = {
  'screen.content': {},
  'screen.windows': undefined,
  'screen.screenshot': {},
  'screen.rotate': undefined,
  'notification.list': undefined,
  'screen.reach': {
    on: { ...other, bounds: {}, className: null, viewId: null, text: null, description: null },
  },
  'input.tap': point,
  'input.doubleTap': point,
  'input.longPress': { ...point, durationMs: 500 },
  'input.swipe': way,
  'input.drag': way,
  'input.fingers': { ways: [way], durationMs: 50 },
  'input.hideKeyboard': undefined,
  'input.text': { text: 'x' },
  'input.clearText': {},
  'input.key': { keyCode: 66 },
  'alert.press': { answer: 'accept' },
  'clipboard.read': {},
  'clipboard.write': { text: 'x' },
  'navigate.back': undefined,
  'navigate.home': undefined,
  'navigate.recents': {},
  'navigate.notifications': {},
  'app.launch': other,
  'app.stop': other,
  'app.current': undefined,
  'app.list': undefined,
  'app.openLink': { url: 'https://example.com/' },
  'app.install': { path: '/sdcard/x.apk', grantPermissions: false },
  'app.uninstall': other,
  'app.clearData': other,
  'app.setPermission': { ...other, permission: 'android.permission.CAMERA', isGranted: true },
  'file.list': { path: '/sdcard/DCIM' },
  'file.read': { ...file, path: `${own}/../../../../DCIM/x` },
  'file.write': { ...file, path: '/sdcard/DCIM/x' },
  'file.scan': { path: '/sdcard/DCIM/x' },
  'file.delete': { path: '/sdcard/Android/media/com.android.settings/x' },
  'message.list': { since: 0 },
  'phone.settings': { brightness: 0 },
  'user.list': undefined,
  'phone.shell': { command: 'id', timeoutMs: 1000 },
  'device.info': undefined,
};
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a constant has no keys but its own
const names = Object.keys(reaching) as (keyof typeof reaching)[];
const refusals = names.flatMap((name) => {
  const params = reaching[name];
  return params === undefined ? [] : [{ name, params }];
});

describe('who is limited to an app', () => {
  it.each(refusals)('does not reach another one by $name', async ({ name, params }) => {
    await inFront(settings);
    const call = limited().call(name, params);
    await expect(call).rejects.toMatchObject({
      code: 'app_not_allowed',
      message: expect.stringContaining(`The token "agent" is limited to ${form}: `),
    });
    expect(simulated.android.currentPackage).toBe(settings);
  });

  it('has a rule for each call', () => {
    const known = [...Object.keys(reaching), 'screen.change', 'screen.animations'];
    const ofHost = /^(?:record|secret|run|task)\./;
    expect(Object.keys(agentCalls).filter((name) => !known.includes(name) && !ofHost.test(name))).toEqual([]);
  });

  it('uses its own as everybody does', async () => {
    const driver = limited(['dev.phalanx.sample.*']);
    await driver.call('app.launch', { packageName: form });
    const { root } = await driver.call('screen.content', {});
    expect(root.packageName).toBe(form);
    await driver.call('input.tap', point);
    await driver.call('screen.screenshot', { maxWidth: 100 });
    await driver.call('file.write', { path: own, base64: 'YQ==', isFirst: true });
    expect((await driver.call('screen.windows', {})).map(({ root: one }) => one.packageName)).toContain(form);
    await driver.call('app.stop', { packageName: form });
  });

  it('reads the home screen and leaves it by an app, and neither touches nor pictures it', async () => {
    await inFront(settings);
    await limited().call('navigate.home', {});
    expect((await limited().call('screen.content', {})).packageName).toBe(home);
    for (const [name, params] of [
      ['input.tap', point],
      ['screen.screenshot', {}],
    ] as const)
      await expect(limited().call(name, params)).rejects.toMatchObject({ code: 'app_not_allowed' });
    await expect(limited().takeLivePicture()).rejects.toMatchObject({ code: 'app_not_allowed' });
    expect(await limited().takePassingPicture()).toBeUndefined();
    await limited().call('app.launch', { packageName: form });
    expect(simulated.android.currentPackage).toBe(form);
  });

  it('answers a dialog that asks for a permission, and no page with those of all apps', async () => {
    await inFront(askingPackage);
    const { root } = await limited().call('screen.content', {});
    expect(root.packageName).toBe(askingPackage);
    const read = async (): Promise<string[]> =>
      (await limited().call('screen.windows', {})).map((window) => window.root.packageName);
    expect(await read()).toContain(askingPackage);
    await limited().call('input.tap', point);
    const refused: readonly (() => Promise<unknown>)[] = [
      () => limited().call('input.tap', point),
      () => limited().call('screen.content', {}),
      () => limited().call('screen.reach', { on: touchedOf(root) }),
      () => limited().takePictureOf({ root, form: {} }),
    ];
    for (const call of refused) await expect(call()).rejects.toMatchObject({ code: 'app_not_allowed' });
    expect(await read()).not.toContain(askingPackage);
  });
});
