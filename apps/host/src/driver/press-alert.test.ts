import {
  type AskedPermission,
  biometricDialog,
  chooserDialog,
  crashDialog,
  defineApp,
  installerDialog,
  notRespondingDialog,
  permissionDialog,
  type ReleasedSystem,
  sampleApps,
  type SimulatedPhone,
  type SystemDialog,
} from '@phalanx/simulated-phone';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPhoneTestBed, type PhoneTestBed } from '../phones/testing/phone-test-bed.ts';
import type { Driver } from './driver.ts';

const app = { packageName: 'dev.phalanx.sample.form', label: 'Form' };
const other = { packageName: 'com.android.settings', label: 'Settings' };

const message = { title: 'Delete it?', message: 'It is gone then.' };
/** App with its answer on the page behind the dialog. */
const composeApp = defineApp({
  packageName: 'dev.phalanx.compose',
  label: 'Compose',
  icon: '',
  color: '#000000',
  state: () => ({}),
  activities: {
    '.Main': () => () => ({
      className: 'android.view.View',
      packageName: 'dev.phalanx.compose',
      frame: { left: 0, top: 0, right: 1080, bottom: 2400 },
    }),
  },
});

/** Number of answers in the app whose dialog is at the top, where notifications appear. */
let topAnswers = 0;
const topApp = defineApp({
  packageName: 'dev.phalanx.top',
  label: 'Top',
  icon: '',
  color: '#000000',
  state: () => ({}),
  activities: {
    '.Main': () => () => ({
      className: 'android.widget.Button',
      packageName: 'dev.phalanx.top',
      resourceId: 'android:id/button1',
      text: 'OK',
      frame: { left: 100, top: 120, right: 980, bottom: 260 },
      onTap: () => void (topAnswers += 1),
    }),
  },
});

type Shown = (system: ReleasedSystem, phone: SimulatedPhone) => void;

const showSystem =
  (make: (system: ReleasedSystem, phone: SimulatedPhone) => SystemDialog): Shown =>
  (system, phone) =>
    phone.android.showSystemDialog(make(system, phone));

interface Case {
  readonly name: string;
  readonly show: Shown;
  /** Label of the button that accepts. */
  readonly accept: string;
  readonly dismiss: string;
}

const asking = (asked: AskedPermission, again = false): Shown =>
  showSystem((system) => permissionDialog(system, app, { asked, again }));

const compose =
  (...buttons: readonly string[]): Shown =>
  (_, { android }) => {
    android.startActivity(composeApp.packageName);
    android.showDialog({ ...message, isCompose: true, buttons: buttons.map((label) => ({ label })) });
  };

const stopped = showSystem((system) => crashDialog(system, app));

const commonCases: readonly Case[] = [
  {
    name: 'an app that does not answer',
    show: showSystem((system, { android }) =>
      notRespondingDialog(system, app, (name) => android.forceStop(name)),
    ),
    accept: 'Close app',
    dismiss: 'Wait',
  },
  {
    name: 'the installer',
    show: showSystem((system) => installerDialog(system, () => {})),
    accept: 'Install',
    dismiss: 'Cancel',
  },
  { name: 'a biometric prompt', show: showSystem(biometricDialog), accept: 'Confirm', dismiss: 'Cancel' },
  { name: 'a dialog of Compose', show: compose('Later', 'No', 'Yes'), accept: 'Yes', dismiss: 'No' },
  { name: 'a dialog of Compose with one button', show: compose('OK'), accept: 'OK', dismiss: 'OK' },
];

const { ALLOW, DENY, deny } = { ALLOW: 'ALLOW', DENY: 'DENY', deny: 'Don’t allow' };

const casesOf: Readonly<Record<number, readonly Case[]>> = {
  24: [
    { name: 'a permission', show: asking('location'), accept: ALLOW, dismiss: DENY },
    { name: 'a permission again', show: asking('contacts', true), accept: ALLOW, dismiss: DENY },
    {
      name: 'an app that stopped',
      show: stopped,
      accept: 'Open app again',
      dismiss: 'Open app again',
    },
    ...commonCases,
  ],
  29: [
    {
      name: 'a permission',
      show: asking('location'),
      accept: 'Allow only while using the app',
      dismiss: 'Deny',
    },
    { name: 'an app that stopped', show: stopped, accept: 'Close app', dismiss: 'Close app' },
  ],
  35: [
    { name: 'a permission', show: asking('location'), accept: 'While using the app', dismiss: deny },
    { name: 'a permission again', show: asking('contacts', true), accept: 'Allow', dismiss: deny },
    { name: 'photos', show: asking('photos'), accept: 'Allow all', dismiss: deny },
    ...commonCases,
  ],
};
const allCases = Object.entries(casesOf).flatMap(([sdkVersion, cases]) =>
  cases.map((one) => ({ ...one, sdkVersion: Number(sdkVersion) })),
);

const ways = ['uiautomator2', 'resident', 'dump'] as const;

describe.each(ways)('dialogs by %s', (way) => {
  let bed: PhoneTestBed;
  let phone: SimulatedPhone;
  let driver: Driver;

  beforeAll(async () => {
    bed = await createPhoneTestBed();
    ({ phone, driver } = await bed.startDriven(way, { apps: [...sampleApps, composeApp, topApp] }));
    expect(driver.source).toBe(way);
  });
  afterAll(async () => {
    await bed.close();
  });

  const press = (answer: 'accept' | 'dismiss', button?: string): Promise<string> =>
    driver.call('alert.press', { answer, ...(button !== undefined && { button }) });

  const systemOf = (sdkVersion: number): ReleasedSystem => ({ android: phone.android, sdkVersion });

  it.each(allCases)('presses what accepts and what dismisses: $name, API $sdkVersion', async (one) => {
    for (const answer of ['accept', 'dismiss'] as const) {
      one.show(systemOf(one.sdkVersion), phone);
      expect(await press(answer)).toBe(one[answer]);
      expect([phone.android.systemDialog, phone.android.stack.top.dialog]).toEqual([undefined, undefined]);
    }
  });

  it.each([
    [24, 'DENY'],
    [29, 'Allow all the time'],
    [35, 'Only this time'],
  ])(
    'presses the button that is named, and says which there are where it is not there: API %i',
    async (sdk, label) => {
      const answers: string[] = [];
      const onAnswer = (id: string): void => void answers.push(id);
      phone.android.showSystemDialog(permissionDialog(systemOf(sdk), app, { asked: 'location', onAnswer }));
      await expect(press('accept', 'No such button')).rejects.toMatchObject({
        code: 'no_alert',
        message: expect.stringMatching(
          /has no button "No such button"\. Its buttons: .*"(?:DENY|Deny|Don’t allow)"/,
        ),
      });
      expect(answers).toEqual([]);
      expect(await press('accept', label)).toBe(label);
      expect(answers).toHaveLength(1);
    },
  );

  it.each([29, 35])(
    'wants an entry of a chooser first, and dismisses it by the key BACK: API %i',
    async (sdk) => {
      const choices: string[] = [];
      const onChoice = ({ label }: { label: string }, isForGood: boolean): void =>
        void choices.push(`${label} ${isForGood}`);
      const show = (): void =>
        phone.android.showSystemDialog(chooserDialog(systemOf(sdk), [app, other], onChoice));
      show();
      await expect(press('accept')).rejects.toMatchObject({
        code: 'no_alert',
        message: expect.stringContaining('The button "Just once" of the dialog is off.'),
      });
      expect(await press('accept', 'Settings')).toBe('Settings');
      expect(await press('accept')).toBe('Just once');
      expect(choices).toEqual(['Settings false']);
      show();
      expect(await press('dismiss')).toBe('BACK');
      expect(phone.android.systemDialog).toBeUndefined();
    },
  );

  it('opens no other app where a notification lies over the button', async () => {
    phone.android.startActivity(topApp.packageName);
    phone.android.postHeadsUp({ ...app, title: 'Ann', text: 'Hello' }, 60_000);
    await expect(press('accept')).rejects.toMatchObject({
      code: 'covered',
      message: expect.stringContaining('com.android.systemui lies over the Button #button1 "OK"'),
    });
    expect([phone.android.currentPackage, topAnswers]).toEqual([topApp.packageName, 0]);
    phone.android.headsUp.hide();
    expect([await press('accept'), topAnswers]).toEqual(['OK', 1]);
    topAnswers = 0;
  });

  it('presses nothing where no dialog is', async () => {
    phone.android.showDialog(undefined);
    for (const packageName of [app.packageName, composeApp.packageName]) {
      phone.android.startActivity(packageName);
      const before = phone.android.inputs.list().length;
      await expect(press('accept')).rejects.toMatchObject({ code: 'no_alert' });
      await expect(press('dismiss', 'Submit')).rejects.toMatchObject({ code: 'no_alert' });
      expect(phone.android.inputs.list()).toHaveLength(before);
    }
  });
});
