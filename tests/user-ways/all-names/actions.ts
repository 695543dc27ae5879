import { calls, form, holds, openForm, openSettings, settings, thrown } from './calls';

const { actions } = agent;
const frontApp = async (): Promise<string> => (await actions.currentApp()).packageName;

/** Opens a dialog, which its app shows at every third tap. */
async function openDialog(): Promise<void> {
  await actions.launchApp('dev.phalanx.sample.surprise');
  for (let taps = 0; taps < 3; taps += 1) await (await actions.waitForText('Tap me')).tap();
  await actions.waitForText('Enjoying this app?');
}

async function touching(): Promise<void> {
  const middleOf = async (text: string): Promise<[x: number, y: number]> => {
    const { left, top, right, bottom } = (await actions.waitForText(text)).boundsInScreen;
    return [(left + right) / 2, (top + bottom) / 2];
  };
  const isShown = async (text: string): Promise<boolean> => (await actions.waitForText(text)) !== null;
  await calls<Omit<AgentActions, keyof AgentWaits>>('AgentActions', {
    launchApp: async () => (await openSettings()) !== null,
    currentApp: async () => {
      const { packageName, activity } = await actions.currentApp();
      return packageName === settings && activity !== undefined;
    },
    screenContent: async () => (await actions.screenContent()).packageName === settings,
    screenshot: async () => {
      const low = await actions.screenshot(ScreenshotRecord.LOW_QUALITY);
      return low.mimeType === 'image/jpeg' && low.width <= 540 && low.originalWidth > 540;
    },
    swipe: async () => {
      const { screenHeight } = await agent.info.device();
      await actions.swipe(300, screenHeight * 0.7, 300, screenHeight * 0.2, 200);
      return isShown('About phone');
    },
    tap: async () => {
      await actions.tap(...(await middleOf('About phone')));
      return isShown('Serial number');
    },
    drag: async () => {
      await actions.drag(300, 900, 300, 700, 50);
      return true;
    },
    pinch: async () => {
      await actions.pinch(540, 1200, 200, 800, 50);
      return true;
    },
    rotate: async () => {
      await actions.rotate('landscape');
      const wide = await actions.waitFor(({ boundsInScreen: { right, bottom } }) => right > bottom);
      await actions.rotate('portrait');
      return wide && actions.waitFor(({ boundsInScreen: { right, bottom } }) => right < bottom);
    },
    doubleTap: async () => {
      await actions.doubleTap(...(await middleOf('Serial number')));
      return true;
    },
    longPress: async () => {
      await actions.longPress(...(await middleOf('Serial number')), 50);
      return true;
    },
    hold: async () => {
      await actions.hold(...(await middleOf('Serial number')), 50);
      return true;
    },
    back: async () => {
      await actions.back();
      await actions.waitForTextGone('Serial number');
      return true;
    },
    home: async () => {
      await actions.home();
      return actions.waitFor(async () => (await frontApp()) !== settings);
    },
    notifications: async () => {
      await actions.notifications();
      await actions.back();
      return true;
    },
    recents: async () => {
      await actions.recents();
      await actions.home();
      return true;
    },
    writeText: async () => {
      await (await openForm()).tap();
      await actions.writeText('Grüße 🦴');
      return isShown('Grüße 🦴');
    },
    hideKeyboard: async () => {
      await actions.hideKeyboard();
      return (await frontApp()) === form;
    },
    clearText: async () => {
      await actions.clearText();
      await actions.waitForTextGone('Grüße 🦴');
      return true;
    },
    windows: async () => {
      await (await openForm()).tap();
      await actions.waitFor((screen) => screen.findById('name')?.isFocused);
      const windows = await actions.windows();
      const keyboard = windows.find(({ isKeyboard }) => isKeyboard);
      await calls<AndroidWindow>('AndroidWindow', {
        packageName: () => windows.some(({ packageName }) => packageName === form),
        isKeyboard: () => keyboard !== undefined,
        root: () => keyboard?.root.parent === null,
      });
      return windows.length > 2;
    },
    readNotifications: async () => {
      const [first] = await actions.readNotifications();
      await calls<PhoneNotification>('PhoneNotification', {
        packageName: () => first?.packageName === 'android',
        title: () => first?.title === 'USB debugging connected',
        text: () => first?.text === 'Tap to turn off USB debugging',
      });
      return first !== undefined;
    },
    setAnimations: async () => {
      await actions.setAnimations(false);
      const scale = 'settings get global window_animation_scale';
      const off = (await agent.shell(scale)).stdout;
      await actions.setAnimations(true);
      return off === '0\n' && (await agent.shell(scale)).stdout !== '0\n';
    },
    setPhoneSettings: async () => {
      await actions.setPhoneSettings({ timeZone: 'Asia/Kolkata' });
      return (await printed('getprop persist.sys.timezone')) === 'Asia/Kolkata';
    },
    setClipboard: async () => {
      await actions.setClipboard('नमस्ते مرحبا');
      await actions.inputKey('PASTE');
      return isShown('नमस्ते مرحبا');
    },
    getClipboard: async () => {
      const error = await thrown(() => actions.getClipboard());
      return error instanceof AgentError && error.code === 'clipboard_refused';
    },
    performEditorAction: async () => {
      await actions.clearText();
      await actions.performEditorAction();
      return (await frontApp()) === form;
    },
    announcements: async () => {
      for (const { scroll } of [{ scroll: 1 }, { scroll: 2 }])
        await actions.swipe(300, 1800, 300, 500, 100 * scroll);
      await (await actions.waitForText('Submit')).tap();
      return (await actions.announcements()).includes('Something is missing');
    },
    openLink: async () => {
      await actions.home();
      await actions.openLink('sample-form:register', form);
      return (await frontApp()) === form;
    },
    acceptAlert: async () => {
      await openDialog();
      return (await actions.acceptAlert()) === 'Rate' && isShown('Answer: rate');
    },
    dismissAlert: async () => {
      await openDialog();
      return (await actions.dismissAlert('Never')) === 'Never' && isShown('Answer: never');
    },
    inputKey: async () => {
      await actions.inputKey('TAB');
      await actions.inputKey(4);
      return true;
    },
    dpad: async () => {
      for (const direction of ['up', 'down', 'left', 'right', 'center'] as const)
        await actions.dpad(direction);
      return true;
    },
    stopApp: async () => {
      await actions.stopApp(form);
      return actions.waitFor(async () => (await frontApp()) !== form);
    },
    sleep: async () => {
      const before = performance.now();
      await actions.sleep(20);
      return performance.now() - before >= 19;
    },
  });
}

async function pictures(): Promise<void> {
  const picture = await actions.screenshot({ format: 'png', quality: 50, maxWidth: 200 });
  await calls<PhoneSettings>('PhoneSettings', {
    httpProxy: async () => {
      await actions.setPhoneSettings({ httpProxy: '10.0.0.5:3128' });
      return (await printed('settings get global http_proxy')) === '10.0.0.5:3128';
    },
    timeZone: async () => {
      await actions.setPhoneSettings({ timeZone: 'Asia/Tokyo' });
      return (await printed('getprop persist.sys.timezone')) === 'Asia/Tokyo';
    },
    locale: async () => {
      await actions.setPhoneSettings({ locale: { [form]: 'de-DE' } });
      return (await printed(`cmd locale get-app-locales ${form}`)).includes('[de-DE]');
    },
    location: async () => {
      await actions.setPhoneSettings({ location: { latitude: 52.52, longitude: 13.4 } });
      return (await printed('cmd location is-location-enabled')) === 'true';
    },
    brightness: async () => {
      await actions.setPhoneSettings({ brightness: 0 });
      return (await printed('settings get system screen_brightness')) === '0';
    },
    headsUp: async () => {
      await actions.setPhoneSettings({ headsUp: false });
      return (await printed('settings get global heads_up_notifications_enabled')) === '0';
    },
  });
  await calls<PhoneLocation>('PhoneLocation', {
    latitude: () => isRefused({ latitude: 91, longitude: 0 }),
    longitude: () => isRefused({ latitude: 0, longitude: 181 }),
    accuracy: () => isRefused({ latitude: 0, longitude: 0, accuracy: -1 }),
  });
  await calls<Omit<ScreenshotOptions, keyof ActionOptions>>('ScreenshotOptions', {
    format: () => picture.mimeType === 'image/png',
    quality: async () => (await actions.screenshot({ quality: 10 })).mimeType === 'image/jpeg',
    maxWidth: () => picture.width === 200,
  });
  await calls<ActionOptions>('ActionOptions', {
    signal: async () => {
      const gone = await thrown(() => actions.hold(9, 900, 60_000, { signal: AbortSignal.timeout(50) }));
      const reason = await thrown(() => actions.screenshot({ signal: AbortSignal.abort('mine') }));
      return gone instanceof DOMException && gone.name === 'TimeoutError' && reason === 'mine';
    },
  });
  await calls<Screenshot>('Screenshot', {
    base64: () => atob(picture.base64).startsWith('\u0089PNG'),
    mimeType: () => picture.mimeType === 'image/png',
    width: () => picture.width === 200,
    height: () => picture.height > 200,
    originalWidth: () => picture.originalWidth > 200,
    originalHeight: () => picture.originalHeight > picture.height,
    remark: () => picture.remark === undefined,
  });
  await calls<typeof ScreenshotRecord>('ScreenshotRecord', {
    NONE: () => ScreenshotRecord.NONE === 'none',
    LOW_QUALITY: () => ScreenshotRecord.LOW_QUALITY === 'low_quality',
    HIGH_QUALITY: async () => {
      const { width, originalWidth } = await actions.screenshot(ScreenshotRecord.HIGH_QUALITY);
      return width === originalWidth;
    },
  });
}

async function waiting(): Promise<void> {
  await openSettings();
  await calls<AgentWaits>('AgentWaits', {
    waitForText: async () => (await actions.waitForText(/^Bluetooth$/)).text === 'Bluetooth',
    waitForTextGone: async () => (await actions.waitForTextGone('nowhere')) === undefined,
    waitForId: async () => (await openForm()).viewId?.endsWith(':id/name') === true,
    waitForApp: async () => (await actions.waitForApp(form)).packageName === form,
    waitFor: async () =>
      (await actions.waitFor((screen) => screen.findById('name'), { description: 'a name' })) !== null,
    waitForIdle: async () => (await actions.waitForIdle({ quietMs: 10 })).packageName === form,
    waitForNode: async () =>
      (await actions.waitForNode((f) => f.isEditText().hasId('name'))).viewId?.endsWith(':id/name') === true,
    collect: async () => {
      await openSettings();
      const titles = await actions.collect((row) => row.findById('title')?.text, { timeoutMs: 120_000 });
      return titles.includes('Bluetooth') && titles.at(-1) === 'About phone';
    },
    scrollTo: async () => {
      await openSettings();
      await (await actions.scrollTo('About phone')).tap();
      const isOpened = (await actions.waitForText('Serial number')) !== null;
      await openForm();
      return isOpened;
    },
  });
  const error = await thrown(() => actions.waitForText('Naem', { timeoutMs: 0 }));
  if (!(error instanceof WaitTimeoutError)) throw error;
  await calls<Omit<WaitTimeoutError, keyof Error>>('WaitTimeoutError', {
    awaited: () => error.awaited.includes('Naem'),
    waitedMs: () => error.waitedMs >= 0,
    reads: () => error.reads === 1,
    seen: () => error.seen[0]?.packageName === form,
    nearest: () => error.nearest.length > 0,
  });
  await calls<WaitOptions>('WaitOptions', {
    timeoutMs: () => error.reads === 1,
    intervalMs: async () => {
      const slow = await thrown(() => actions.waitForText('Naem', { timeoutMs: 60, intervalMs: 50 }));
      return slow instanceof WaitTimeoutError && slow.reads <= 3;
    },
    signal: async () => {
      const deadline = AbortSignal.timeout(50);
      const late = await thrown(() => actions.waitForText('Naem', { signal: deadline }));
      const reason = await thrown(() => actions.waitForText('Naem', { signal: AbortSignal.abort('mine') }));
      return late instanceof WaitTimeoutError && reason === 'mine';
    },
  });
  await calls<Omit<ScrollOptions, keyof WaitOptions>>('ScrollOptions', {
    direction: async () => {
      await openSettings();
      const down = await actions.scrollTo((f) => f.hasText('About phone'), { timeoutMs: 60_000 });
      return down !== null && (await actions.scrollTo('Bluetooth', { direction: 'up' })) !== null;
    },
    within: async () => (await actions.scrollTo('Bluetooth', { within: (f) => f.isScrollable() })) !== null,
  });
  await holds('WaitTimeoutError', () => error.name === 'WaitTimeoutError');
}

async function knowing(): Promise<void> {
  const device = await agent.info.device();
  await calls<DeviceInfo>('DeviceInfo', {
    deviceId: () => device.deviceId.length > 10,
    serial: () => device.serial.startsWith('SIM'),
    brand: () => device.brand.length > 0,
    model: () => device.model.length > 0,
    androidVersion: () => /^\d+/.test(device.androidVersion),
    sdkVersion: () => device.sdkVersion > 20,
    screenWidth: () => device.screenWidth > 300,
    screenHeight: () => device.screenHeight > device.screenWidth,
    densityDpi: () => device.densityDpi > 100,
  });
  await calls<AgentInfo>('AgentInfo', { device: () => device.serial !== '' });
  const error = await thrown(() => actions.launchApp('no.such.app'));
  await holds('AgentError', () => error instanceof AgentError && error instanceof Error);
  await calls<Pick<AgentError, 'code'>>('AgentError', {
    code: () => error instanceof AgentError && error.code !== '',
  });
  await calls<AgentArguments>('AgentArguments', {
    automationParameters: () => agent.arguments.automationParameters['end'] !== undefined,
    jobVariables: () => agent.arguments.jobVariables['job'] === 7,
  });
}

export async function acting(): Promise<void> {
  await knowing();
  await touching();
  await pictures();
  await waiting();
}

const printed = async (command: string): Promise<string> => (await agent.shell(command)).stdout.trim();

async function isRefused(location: PhoneLocation): Promise<boolean> {
  const error = await thrown(() => agent.actions.setPhoneSettings({ location }));
  return error instanceof AgentError && error.code === 'invalid_call';
}
