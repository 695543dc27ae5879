import type { PhoneSettings } from '@phalanx/protocol';
import { shellQuote } from '../shell/phone-shell.ts';

/** Settings of a phone that can be changed and put back. */
export interface ChangedSettings extends PhoneSettings {
  /** False to draw no animations. */
  readonly animations?: false;
}
export type SettingName = keyof ChangedSettings;
type Value<Name extends SettingName> = NonNullable<ChangedSettings[Name]>;

/**
 * Way to change a setting on a phone. A place is where the phone keeps a part of it, such as a row of its settings. The
 * earlier value of a place is text, which enters a command line only in the form that `readEarlier` accepts.
 */
interface SettingWay<Name extends SettingName> {
  /** First release of Android with the setting, as its API level and its name. */
  readonly since?: readonly [sdk: number, release: string];
  readonly places: (value: Value<Name>) => string[];
  readonly change: (value: Value<Name>) => string;
  /** Command that shows whether the phone has accepted the value. */
  readonly check?: ((value: Value<Name>) => string) | undefined;
  /**
   * Finds the refusal in the phone's output, including that of the check. A refusal means that the value was not
   * accepted.
   */
  readonly refusal: (value: Value<Name>, said: Said) => string | undefined;
}

interface Said {
  readonly stdout: string;
  readonly stderr: string;
}

interface PlaceWay {
  read(key: string): string;
  /** Parses the earlier value; undefined when the phone did not report it. */
  readEarlier(said: string): string | undefined;
  putBack(key: string, earlier: string): string;
}

const scales = ['window_animation_scale', 'transition_animation_scale', 'animator_duration_scale'];
const providers = ['gps', 'network', 'fused'];
const mockOperation = 'com.android.shell android:mock_location';
const noProxy = ':0';
const unset = 'null';
const errorLine =
  /^(?!Exception occurred).*(?:Exception|Error|not allowed|Permission denial|Unknown package|No shell command|Can't find service|Failure calling service).*$/m;
export const errorIn = ({ stdout, stderr }: Said): string | undefined =>
  errorLine.exec(`${stderr}\n${stdout}`)?.[0].trim().slice(0, 200);

const tableRow = (table: 'global' | 'system'): PlaceWay => ({
  read: (key) => `settings get ${table} ${key}`,
  readEarlier: (said) => /^(?:null|-?\d{1,9}(?:\.\d{1,6})?)$/.exec(said.trim())?.[0],
  putBack: (key, earlier) =>
    earlier === unset ? `settings delete ${table} ${key}` : `settings put ${table} ${key} ${earlier}`,
});

/** Ways by the prefix of a place, before the colon; the rest of the place is the key. */
const placeWays: Readonly<Record<string, PlaceWay>> = {
  global: tableRow('global'),
  system: tableRow('system'),
  http_proxy: {
    read: () => 'settings get global http_proxy',
    // No output is no answer: without a proxy, the phone prints the word `null`, or an empty line.
    readEarlier: (said) => {
      if (said !== '' && ['null', '', noProxy].includes(said.trim())) return noProxy;
      return /^[^\s\p{Cc}]{1,255}:\d{1,5}$/u.exec(said.trim())?.[0];
    },
    // Android keeps using a proxy after its setting is deleted.
    putBack: (_, earlier) => `settings put global http_proxy ${shellQuote(earlier)}`,
  },
  time_zone: {
    read: () => 'getprop persist.sys.timezone',
    readEarlier: (said) => /^[\w+/-]{1,64}$/.exec(said.trim())?.[0],
    putBack: (_, earlier) => setTimeZone(earlier),
  },
  locale: {
    read: (app) => `cmd locale get-app-locales ${app}`,
    readEarlier: (said) => /are \[([\w,-]*)\]/.exec(said)?.[1],
    putBack: (app, earlier) => setLocale(app, earlier),
  },
  location: {
    read: () => `cmd location is-location-enabled; appops get ${mockOperation}`,
    readEarlier: (said) => {
      const isOn = /^(true|false)\r?$/m.exec(said)?.[1];
      const mode =
        /MOCK_LOCATION: (\w+)/.exec(said)?.[1] ?? (said.includes('No operations') ? 'default' : '');
      return isOn === undefined || mode === '' ? undefined : `${isOn === 'true' ? 'on' : 'off'} ${mode}`;
    },
    putBack: (_, earlier) => {
      const [state, mode = 'default'] = earlier.split(' ');
      return [
        ...providers.map((provider) => `cmd location providers remove-test-provider ${provider}`),
        ...(state === 'off' ? ['cmd location set-location-enabled false'] : []),
        `appops set ${mockOperation} ${mode}`,
      ].join('; ');
    },
  },
};

const wayOf = (place: string): [PlaceWay, string] => {
  const [kind = '', key = ''] = place.split(':', 2);
  const way = placeWays[kind];
  if (way === undefined) throw new Error(`There is no place ${place}`);
  return [way, key];
};

export function readCommand(place: string): string {
  const [way, key] = wayOf(place);
  return way.read(key);
}

export function earlierValue(place: string, said: string): string | undefined {
  return wayOf(place)[0].readEarlier(said);
}

export function putBackCommand(place: string, earlier: string): string {
  const [way, key] = wayOf(place);
  return way.putBack(key, earlier);
}

/** Whether a place is known, in a form that is safe in a command line. */
export function isPlace(place: string): boolean {
  return Object.hasOwn(placeWays, place.split(':', 1)[0] ?? '') && /^\w+(?::[\w.]+)?$/.test(place);
}

/** Sets the time zone. The alarm service of old releases has no commands, so its method is called directly. */
function setTimeZone(zone: string): string {
  const quoted = shellQuote(zone);
  const isSet = `getprop persist.sys.timezone | grep -Fxq ${quoted}`;
  return `cmd alarm set-timezone ${quoted}; ${isSet} || service call alarm 3 s16 ${quoted} >/dev/null`;
}

const setLocale = (app: string, tags: string): string =>
  `cmd locale set-app-locales ${app}${tags === '' ? '' : ` --locales ${shellQuote(tags)}`}`;

/** Sends the location to the providers again: apps treat an old location as none. */
export const tellLocation = ({ latitude, longitude, accuracy = 5 }: Value<'location'>): string =>
  providers
    .map(
      (provider) =>
        `cmd location providers set-test-provider-location ${provider} --location ${latitude},${longitude} --accuracy ${accuracy}`,
    )
    .join('; ');

export const mockLocation = (value: Value<'location'>): string =>
  [
    `appops set ${mockOperation} allow`,
    'cmd location set-location-enabled true',
    ...providers.flatMap((provider) => [
      `cmd location providers add-test-provider ${provider}`,
      `cmd location providers set-test-provider-enabled ${provider} true`,
    ]),
    tellLocation(value),
  ].join('; ');

const quietly = (_: unknown, said: Said): string | undefined => errorIn(said);

export const settingWays: { readonly [Name in SettingName]-?: SettingWay<Name> } = {
  http_proxy: {
    places: () => ['http_proxy'],
    change: (proxy) => `settings put global http_proxy ${shellQuote(proxy)}`,
    refusal: quietly,
  },
  time_zone: {
    places: () => ['time_zone', 'global:auto_time_zone'],
    // Keeps the mobile network from setting the zone again.
    change: (zone) => `settings put global auto_time_zone 0; ${setTimeZone(zone)}`,
    check: () => 'getprop persist.sys.timezone',
    refusal: (zone, { stdout }) => {
      const taken = stdout.trim().split('\n').at(-1)?.trim() ?? '';
      return taken === zone ? undefined : `it took "${taken}"; its Android may not know ${zone}`;
    },
  },
  locale: {
    since: [33, '13'],
    places: (locales) => Object.keys(locales).map((app) => `locale:${app}`),
    change: (locales) =>
      Object.entries(locales)
        .map(([app, tag]) => setLocale(app, tag))
        .join('; '),
    refusal: quietly,
  },
  location: {
    since: [31, '12'],
    places: () => ['location'],
    change: mockLocation,
    // Queries the app op: without its permission nothing happens, and no error is reported.
    check: () => `appops get ${mockOperation}`,
    refusal: (_, said) =>
      /MOCK_LOCATION: allow/.test(said.stdout)
        ? errorIn(said)
        : (errorIn(said) ?? 'its shell may not mock locations'),
  },
  brightness: {
    places: () => ['system:screen_brightness', 'system:screen_brightness_mode'],
    change: (brightness) =>
      `settings put system screen_brightness_mode 0; settings put system screen_brightness ${brightness}`,
    refusal: quietly,
  },
  heads_up: {
    places: () => ['global:heads_up_notifications_enabled'],
    // SystemUI reads Settings.Global.HEADS_UP_NOTIFICATIONS_ENABLED each time.
    change: (isOn) => `settings put global heads_up_notifications_enabled ${isOn ? 1 : 0}`,
    refusal: quietly,
  },
  animations: {
    places: () => scales.map((scale) => `global:${scale}`),
    change: () => scales.map((scale) => `settings put global ${scale} 0`).join('; '),
    refusal: quietly,
  },
};

/** Lists the places where a phone keeps these settings. */
export const placesOf = (settings: ChangedSettings): string[] =>
  entriesOf(settings).flatMap(([name, value]) => settingWays[name].places(value));

type Entry = readonly [SettingName, never];

/** Returns the entries of settings in a fixed order: those that may be refused come first. */
export function entriesOf(settings: ChangedSettings): Entry[] {
  const names: readonly SettingName[] = [
    ...(['locale', 'location', 'time_zone', 'http_proxy', 'animations', 'brightness', 'heads_up'] as const),
  ];
  return names.flatMap((name): Entry[] => {
    const value = settings[name];
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the value of a name goes to the way of that name
    return value === undefined ? [] : [[name, value as never]];
  });
}
