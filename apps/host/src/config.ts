import { availableParallelism, hostname } from 'node:os';

import {
  addressList,
  dataDir,
  type Environment,
  folder,
  httpUrl,
  logFormat,
  logLevel,
  oneOf,
  parseSettings,
  peerAddress,
  requireConfinement,
  secret,
  type Setting,
  setting,
  shortText,
  trueOrFalse,
  unless,
  wholeNumber,
} from '@phalanx/settings';

/** Methods of reading the screen. `auto` uses the UiAutomator2 server where the phone accepts it. */
const helperChoices = ['auto', 'resident', 'uiautomator2'] as const;
export type HelperChoice = (typeof helperChoices)[number];

const rows = {
  serverUrl: setting({
    name: 'PHALANX_SERVER_URL',
    default: 'http://127.0.0.1:8080',
    description: 'address of the server that the host connects to',
    format: httpUrl,
  }),
  token: setting({
    name: 'PHALANX_TOKEN',
    default: null,
    description: 'API token with the scope "host"; the phones of the host belong to its user',
    format: secret({ min: 1, max: 4096 }),
  }),
  dataDir,
  hostName: setting({
    name: 'PHALANX_HOST_NAME',
    default: hostname().slice(0, 200) || 'host',
    defaultText: "the machine's name",
    description: 'name of this machine for people',
    format: shortText(200),
  }),
  adbServer: setting({
    name: 'PHALANX_ADB_SERVER',
    default: '127.0.0.1:5037',
    description: 'address of the ADB server that holds the USB phones, or "off"',
    format: unless('off', peerAddress),
  }),
  phones: setting({
    name: 'PHALANX_PHONES',
    default: '',
    description: 'phones reached by TCP without an ADB server: host:port, separated by commas',
    format: addressList,
  }),
  minBattery: setting({
    name: 'PHALANX_MIN_BATTERY',
    default: '15',
    description: 'phones with a lower battery level rest; 0 for no limit',
    format: wholeNumber({ min: 0, max: 90, unit: '%' }),
  }),
  maxTemperature: setting({
    name: 'PHALANX_MAX_TEMPERATURE',
    default: '45',
    description: 'phones with a hotter battery rest; 0 for no limit',
    format: wholeNumber({ min: 0, max: 80, unit: '°C' }),
  }),
  trimCaches: setting({
    name: 'PHALANX_TRIM_CACHES',
    default: '0',
    description: 'phones with less free storage have the caches of their apps emptied between runs; 0: never',
    format: wholeNumber({ min: 0, max: 90, unit: '%' }),
  }),
  rebootPhones: setting({
    name: 'PHALANX_REBOOT_PHONES',
    default: 'false',
    description: 'whether a phone may be restarted when no other repair has helped',
    format: trueOrFalse,
  }),
  pinsFile: setting({
    name: 'PHALANX_PINS_FILE',
    default: '',
    description: 'file with a serial number (or *) and a PIN in each line, to unlock phones',
    format: unless('', folder),
  }),
  phoneSettingsFile: setting({
    name: 'PHALANX_PHONE_SETTINGS_FILE',
    default: '',
    description: 'JSON file with what is set on phones in each run, by serial number (or *)',
    format: unless('', folder),
  }),
  helper: setting({
    name: 'PHALANX_HELPER',
    default: 'auto',
    description:
      'which UI helper reads screens; "auto" is the UiAutomator2 server, and the resident helper where a phone refuses it',
    format: oneOf(helperChoices),
  }),
  scrcpyServer: setting({
    name: 'PHALANX_SCRCPY_SERVER',
    default: '',
    defaultText: "the installed scrcpy's, if there is one",
    description: "file of scrcpy's server, with which phones encode their live view as H.264",
    format: unless('', folder),
  }),
  installedScrcpy: setting({
    name: 'SCRCPY_SERVER_PATH',
    default: '',
    description: "the same, as scrcpy's own client is told of it",
    format: unless('', folder),
  }),
  phoneGraceSeconds: setting({
    name: 'PHALANX_PHONE_GRACE_SECONDS',
    default: '60',
    description: 'how long a phone may be away before the runs on it fail',
    format: wholeNumber({ min: 1, max: 3600, unit: 'seconds' }),
  }),
  allowPrivateFetch: setting({
    name: 'PHALANX_ALLOW_PRIVATE_FETCH',
    default: 'false',
    description: 'whether fetch() in automations may reach private and local addresses',
    format: trueOrFalse,
  }),
  allowAppChanges: setting({
    name: 'PHALANX_ALLOW_APP_CHANGES',
    default: 'false',
    description:
      'whether automations may install and uninstall apps, clear their data and change their permissions',
    format: trueOrFalse,
  }),
  allowShell: setting({
    name: 'PHALANX_ALLOW_SHELL',
    default: 'false',
    description: "whether automations may use a phone's shell, and its files outside of the shared storage",
    format: trueOrFalse,
  }),
  allowSms: setting({
    name: 'PHALANX_ALLOW_SMS',
    default: 'false',
    description: 'whether automations may read the text messages that a phone has received',
    format: trueOrFalse,
  }),
  runMemoryMb: setting({
    name: 'PHALANX_RUN_MEMORY_MB',
    default: '128',
    description: 'memory for the code of one run',
    format: wholeNumber({ min: 16, max: 4096, unit: 'MB' }),
  }),
  runCpuSeconds: setting({
    name: 'PHALANX_RUN_CPU_SECONDS',
    default: '300',
    description: 'processor time of one run',
    format: wholeNumber({ min: 1, max: 86_400, unit: 'seconds' }),
  }),
  runTimeLimitSeconds: setting({
    name: 'PHALANX_RUN_TIME_LIMIT_SECONDS',
    default: '3600',
    description: 'longest duration of one run',
    format: wholeNumber({ min: 1, max: 604_800, unit: 'seconds' }),
  }),
  runFilesMb: setting({
    name: 'PHALANX_RUN_FILES_MB',
    default: '50',
    description: 'files that one run may attach, together',
    format: wholeNumber({ min: 0, max: 1000, unit: 'MB' }),
  }),
  runFilm: setting({
    name: 'PHALANX_RUN_FILM',
    default: 'asked',
    description: 'which runs on this host have a film: those that are launched with "film", or all',
    format: oneOf(['asked', 'always']),
  }),
  runFilmMb: setting({
    name: 'PHALANX_RUN_FILM_MB',
    default: '50',
    description:
      'the film of one run, video and pictures together; 0: this host makes no films, and keeps no last screen of runs that succeed',
    format: wholeNumber({ min: 0, max: 1000, unit: 'MB' }),
  }),
  warmSandboxes: setting({
    name: 'PHALANX_WARM_SANDBOXES',
    default: '2',
    description: 'sandbox processes kept ready for the next runs',
    format: wholeNumber({ min: 0, max: 64 }),
  }),
  replayProcesses: setting({
    name: 'PHALANX_REPLAY_PROCESSES',
    default: String(Math.max(1, Math.floor(availableParallelism() / 2))),
    defaultText: 'half of the processors',
    description: 'processes that replay saved screens for the server at a time; 0: this host replays none',
    format: wholeNumber({ min: 0, max: 64 }),
  }),
  requireConfinement,
  logLevel,
  logFormat,
};

export type HostConfig = ReturnType<typeof parseHostConfig>;

export const hostSettings: readonly Setting[] = Object.values(rows);

/** Throws a `SettingError` for the first missing or invalid setting. */
export const parseHostConfig = (env: Environment) => parseSettings(rows, env);
