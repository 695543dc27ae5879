import { icons } from '../widgets/icons.ts';
import { page } from '../widgets/page.ts';
import { category, listRow, switchRow } from '../widgets/rows.ts';
import type { Widget } from '../view/view.ts';
import { type AppContext, defineApp } from '../view/app.ts';

interface SettingsState {
  buildTaps: number;
}

const initialSwitches: ReadonlyMap<string, boolean> = new Map([
  ['wifi', true],
  ['wifi_metered', false],
  ['bluetooth', false],
  ['airplane', false],
  ['dark_theme', false],
  ['auto_rotate', true],
  ['adaptive_brightness', true],
  ['vibrate', true],
  ['battery_saver', false],
  ['developer', false],
]);

const isOn = ({ preferences }: AppContext<SettingsState>, key: string): boolean =>
  preferences.get(key) ?? initialSwitches.get(key) ?? false;

const networks = ['Phalanx', 'Guest', 'Workshop', 'Lobby', 'Café Müller', 'Attic'];

function toggle(
  app: AppContext<SettingsState>,
  key: string,
  texts: { title: string; summary?: string; icon?: string },
): Widget {
  const checked = isOn(app, key);
  return switchRow({
    ...texts,
    checked,
    onToggle: app.change(() => app.preferences.set(key, !checked)),
  });
}

const subPage = (app: AppContext<SettingsState>, title: string, rows: readonly Widget[]) =>
  page({ title, rows, onUp: () => app.finish() });

function homePage(app: AppContext<SettingsState>): Widget {
  const link = (title: string, summary: string, target: { icon: string; activity: string }) =>
    listRow({ title, summary, icon: target.icon, onTap: () => app.open(target.activity) });
  return page({
    title: 'Settings',
    rows: [
      link('Network & internet', 'Mobile, Wi-Fi, hotspot', {
        icon: icons.wifi,
        activity: '.NetworkActivity',
      }),
      toggle(app, 'bluetooth', { title: 'Bluetooth', summary: 'Pair new devices', icon: icons.bluetooth }),
      link('Apps', 'Recent apps, default apps', { icon: icons.apps, activity: '.AppsActivity' }),
      toggle(app, 'airplane', { title: 'Airplane mode', icon: icons.globe }),
      link('Display', 'Dark theme, font size, brightness', {
        icon: icons.display,
        activity: '.DisplayActivity',
      }),
      toggle(app, 'vibrate', {
        title: 'Vibrate for calls',
        summary: 'Also when the volume is off',
        icon: icons.sound,
      }),
      listRow({ title: 'Notifications', summary: 'Notification history, conversations', icon: icons.bell }),
      link('Battery', '100 % - fully charged', { icon: icons.battery, activity: '.BatteryActivity' }),
      listRow({ title: 'Storage', summary: storageOf(app), icon: icons.storage }),
      listRow({ title: 'Security', summary: 'Screen lock, fingerprint', icon: icons.lock }),
      listRow({
        title: 'Passwords & accounts',
        summary: 'Saved passwords, synced accounts',
        icon: icons.person,
      }),
      listRow({
        title: 'Digital wellbeing',
        summary: 'Screen time, bedtime schedules',
        icon: icons.touch,
        enabled: false,
      }),
      link('System', 'Languages, gestures, time, backup', { icon: icons.gear, activity: '.SystemActivity' }),
      link('About phone', app.phone.model, { icon: icons.info, activity: '.AboutActivity' }),
    ],
  });
}

function storageOf(app: AppContext<SettingsState>): string {
  const { sizeBytes, freeBytes } = app.storage();
  return `${Math.round(100 * (1 - freeBytes / sizeBytes))} % used - ${Math.round(freeBytes / 1e9)} GB free`;
}

function networkPage(app: AppContext<SettingsState>): Widget {
  const rows = networks.map((name, index) =>
    listRow({ title: name, summary: index === 0 ? 'Connected' : 'Saved', icon: icons.wifi }),
  );
  const list = isOn(app, 'wifi') ? [category('Available networks'), ...rows] : [];
  const wifi = toggle(app, 'wifi', { title: 'Wi-Fi', icon: icons.wifi });
  const metered = toggle(app, 'wifi_metered', {
    title: 'Treat as metered',
    summary: 'Uses less data in the background',
  });
  return subPage(app, 'Network & internet', [wifi, metered, ...list]);
}

function aboutPage(app: AppContext<SettingsState>): Widget {
  const { brand, model, androidVersion, serial } = app.phone;
  const tapBuild = app.change((state) => {
    state.buildTaps += 1;
    if (state.buildTaps >= 7) app.preferences.set('developer', true);
  });
  const isDeveloper = isOn(app, 'developer');
  return subPage(app, 'About phone', [
    listRow({ title: 'Device name', summary: `${brand} ${model}` }),
    listRow({ title: 'Model', summary: model }),
    listRow({ title: 'Serial number', summary: serial }),
    listRow({ title: 'Android version', summary: androidVersion }),
    listRow({
      title: 'Build number',
      summary: isDeveloper ? 'You are now a developer!' : 'SIM.260101.001',
      onTap: tapBuild,
    }),
  ]);
}

/** Many rows, so that reaching the last one requires scrolling. */
const languages = (
  'Afrikaans,Bahasa Indonesia,Català,Čeština,Dansk,Deutsch,Eesti,English,Español,Euskara,Français,Galego,Hrvatski,' +
  'Íslenska,Italiano,Kiswahili,Latviešu,Lietuvių,Magyar,Nederlands,Norsk,Polski,Português,Română,Shqip,Slovenčina,' +
  'Slovenščina,Suomi,Svenska,Tiếng Việt,Türkçe,Ελληνικά,Български,Русский,Українська'
).split(',');

export const settingsApp = defineApp<SettingsState>({
  packageName: 'com.android.settings',
  label: 'Settings',
  icon: icons.gear,
  color: '#5f6368',
  versionName: '3.2.0',
  versionCode: 30200,
  state: () => ({ buildTaps: 0 }),
  activities: {
    '.SettingsActivity': homePage,
    '.NetworkActivity': networkPage,
    '.AppsActivity': (app) =>
      subPage(app, 'Apps', [
        category('Recently opened apps'),
        ...app.listLaunchable().map((other) =>
          listRow({
            title: other.label,
            summary: other.packageName,
            icon: other.icon,
            onTap: () => app.startApp(other.packageName),
          }),
        ),
      ]),
    '.DisplayActivity': (app) =>
      subPage(app, 'Display', [
        category('Brightness'),
        toggle(app, 'adaptive_brightness', {
          title: 'Adaptive brightness',
          summary: 'Follows the surroundings',
        }),
        category('Appearance'),
        toggle(app, 'dark_theme', { title: 'Dark theme', summary: 'Never turns on by itself' }),
        category('Other display controls'),
        toggle(app, 'auto_rotate', { title: 'Auto-rotate screen' }),
      ]),
    '.BatteryActivity': (app) =>
      subPage(app, 'Battery', [
        listRow({ title: 'Battery usage', summary: 'View usage since the last full charge' }),
        toggle(app, 'battery_saver', { title: 'Battery saver', summary: 'Extends battery life' }),
      ]),
    '.SystemActivity': (app) =>
      subPage(app, 'System', [
        listRow({
          title: 'Languages',
          summary: 'English (United States)',
          icon: icons.globe,
          onTap: () => app.open('.LanguagesActivity'),
        }),
        listRow({ title: 'Date & time', summary: 'GMT+00:00', icon: icons.info }),
        listRow({
          title: 'System update',
          summary: `Updated to Android ${app.phone.androidVersion}`,
          icon: icons.gear,
        }),
      ]),
    '.LanguagesActivity': (app) =>
      subPage(
        app,
        'Languages',
        languages.map((title) => listRow({ title })),
      ),
    '.AboutActivity': aboutPage,
  },
});
