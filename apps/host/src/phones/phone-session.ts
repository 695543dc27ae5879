import { errorText } from '@phalanx/settings';
import type { DeviceInfo } from '@phalanx/protocol';
import type { AdbConnection } from '../adb/link.ts';
import { createDriver, type Driver } from '../driver/driver.ts';
import { HelperRenewal, Renewals } from '../driver/renewals.ts';
import { createPhoneShell, type PhoneShell } from '../driver/shell/phone-shell.ts';
import { type NoVideo, ScreenVideo } from '../driver/video/screen-video.ts';
import type { ScrcpyServer } from '../driver/video/scrcpy-file.ts';
import { askPhone } from './ask-phone.ts';
import { keepAlive } from './health/keep-alive.ts';
import type { PhonePins, Unlocking } from './phone-pins.ts';
import type { PhoneRecord } from './phone-record.ts';
import type { PhoneDescription } from './phone.ts';
import { readDescription } from './start/read-description.ts';
import type { PhoneRules } from './health/phone-health.ts';
import {
  seekHelper,
  type BackendStart,
  lowestSdk,
  startBackend,
  type StartedBackend,
} from './start/start-backend.ts';
import type { HelperChoice } from '../config.ts';
import type { StartQueue } from './start/start-queue.ts';
import type { HostTimings } from '../time/host-timings.ts';
import { pause } from '../time/time-limit.ts';
import { minuteMs } from '@phalanx/timing/durations';

export interface SessionOptions {
  readonly timings: HostTimings;
  readonly rules: PhoneRules;
  /** Whether the host may reboot a phone as the last resort. */
  readonly mayReboot: boolean;
  readonly starts: StartQueue;
  readonly pins: PhonePins;
  readonly helper: HelperChoice;
  /** Server that encodes video on phones. */
  readonly scrcpy: ScrcpyServer | NoVideo;
  /** Throws when the phone of a connection turns out to be another one than assumed. */
  readonly confirmIdentity: (phone: PhoneRecord, shell: PhoneShell) => Promise<void>;
}

// Number of recent helper deaths after which the helper is no longer used on this connection.
const maxHelperDeaths = 5;
const reconnectAt = 3;
const rebootAt = 4;
const deathWindowMs = 10 * minuteMs;

/**
 * Brings a connected phone to `ready` and keeps it there. Closes the connection and returns when the phone does not
 * answer or is gone.
 */
export async function runSession(
  phone: PhoneRecord,
  connection: AdbConnection,
  options: SessionOptions,
): Promise<void> {
  const shell = createPhoneShell(connection);
  const renewals = new Renewals(options.timings);
  const video = videoOf(phone, shell, options);
  phone.video = video;
  try {
    let described: Promise<PhoneDescription> | undefined;
    const describeOnce = async (): Promise<PhoneDescription> => {
      const first = await (described ??= describe(phone, shell));
      // A foldable phone may have changed its size since.
      return phone.description ?? first;
    };
    while (!connection.gone.aborted) {
      // The helper also dies when Android itself restarts while the connection stands.
      await waitForBoot(phone, shell, options);
      const recent = recentDeaths(phone);
      const isHelperUsable = recent < maxHelperDeaths;
      const end = await serve({ phone, shell, describeOnce, options, isHelperUsable, renewals });
      if (end instanceof HelperRenewal) continue;
      phone.helperDeaths.push(performance.now());
      await repair(phone, shell, options.mayReboot);
    }
  } catch (error) {
    if (connection.gone.aborted) return;
    const text = errorText(error);
    phone.setTrouble('unresponsive', `${text} Reconnecting.`);
    connection.close(text);
  } finally {
    phone.video = undefined;
    video.close();
  }
}

function videoOf(phone: PhoneRecord, shell: PhoneShell, { scrcpy }: SessionOptions): ScreenVideo {
  const screen = (): { width: number; height: number } | undefined => {
    const { description } = phone;
    return description && { width: description.screenWidth, height: description.screenHeight };
  };
  return new ScreenVideo({ shell, server: scrcpy, screen, masks: phone.masks });
}

async function describe(phone: PhoneRecord, shell: PhoneShell): Promise<PhoneDescription> {
  const description = await askPhone(shell, (signal) => readDescription(shell, signal));
  phone.setDescription(description);
  // Stops showing the last typed character, which a picture would contain.
  await askPhone(shell, (signal) => shell.run('settings put system show_password 0', signal));
  return description;
}

function recentDeaths({ helperDeaths }: PhoneRecord): number {
  return helperDeaths.filter((at) => performance.now() - at < deathWindowMs).length;
}

/**
 * Repairs a phone whose helper died, escalating with each recent death. Throws when the repair has to end the
 * connection.
 */
async function repair(phone: PhoneRecord, shell: PhoneShell, mayReboot: boolean): Promise<void> {
  const deaths = recentDeaths(phone);
  const { reason } = phone.state;
  if (deaths === reconnectAt) {
    phone.repair('reconnect', reason);
    throw new Error(`The UI helper stopped ${deaths} times in ten minutes.`);
  }
  if (deaths === rebootAt && mayReboot) {
    phone.repair('reboot', reason);
    await shell.open('reboot:', shell.connection.gone).catch(() => {});
    throw new Error(`The UI helper stopped ${deaths} times in ten minutes; the phone is restarted.`);
  }
  phone.repair('helper', reason);
}

interface Serving {
  readonly phone: PhoneRecord;
  readonly shell: PhoneShell;
  readonly describeOnce: () => Promise<PhoneDescription>;
  readonly options: SessionOptions;
  readonly isHelperUsable: boolean;
  readonly renewals: Renewals;
}

interface Started {
  readonly first: StartedBackend;
  readonly start: BackendStart;
  readonly description: PhoneDescription;
}

/** Starts a backend, serves the driver, and returns the reason when the backend fails. Throws when the phone fails. */
async function serve(serving: Serving): Promise<unknown> {
  const { first, start, description } = await startInTurn(serving);
  for (let next = first; ;) {
    const better = await serveBy(next, { ...serving, description }, start);
    if (better === undefined) return next.backend.failed.reason;
    next = better;
  }
}

/** Starts a backend when it is the phone's turn. A phone in use takes precedence. */
function startInTurn({ phone, shell, describeOnce, options, ...held }: Serving): Promise<Started> {
  const { starts } = options;
  const { gone } = shell.connection;
  const state = phone.state.state === 'helper_failed' ? 'helper_failed' : 'connecting';
  const tell = (reason: string): void => {
    if (state === 'connecting') phone.setTrouble(state, reason);
  };
  const onWait = (): void =>
    tell(`Waiting for its turn: this host starts ${starts.atOnce} phones at a time.`);
  return starts.run(
    { signal: gone, rank: phone.screen.isHeld ? 'in_use' : 'known', onWait },
    async (turn) => {
      tell('Starting the UI helper on the phone.');
      const description = await describeOnce();
      const start: BackendStart = {
        shell,
        phone: description,
        isHelperUsable: held.isHelperUsable,
        choice: options.helper,
        renewals: held.renewals,
        signal: gone,
        onLaunched: () => turn.end(),
        onFailure: (reason) => phone.setTrouble(state, reason),
      };
      return { first: await startBackend(start), start, description };
    },
  );
}

/** Serves until the backend fails, or until a better one was found, which it returns. */
async function serveBy(
  { backend, drawback }: StartedBackend,
  { phone, shell, description, options }: Serving & { description: PhoneDescription },
  start: BackendStart,
): Promise<StartedBackend | undefined> {
  const isBusy = (): boolean => phone.screen.isHeld || (driver?.pendingCalls ?? 0) > 0;
  const seeker =
    backend.source !== 'dump' || description.sdkVersion < lowestSdk
      ? undefined
      : seekHelper({
          ...start,
          onFailure: () => {},
          firstMs: options.timings.helperRetryMs,
          starts: options.starts,
          isBusy,
        });
  let driver: Driver | undefined;
  try {
    const deviceInfo = (): DeviceInfo => infoOf(phone.serial, description);
    driver = createDriver({
      serial: phone.serial,
      shell,
      backend,
      deviceInfo,
      onDisplay: (size) => phone.setDescription({ ...(phone.description ?? description), ...size }),
      masks: () => phone.masks.list(),
      onTree: (root) => phone.typedSecrets.noteTree(root),
      unlock: (isOpen, signal) => options.pins.unlock(phone.serial, shell, { isOpen, signal }),
      timings: options.timings,
      earlier: phone.earlier,
      onAnswer: () => phone.confirm(),
    });
    phone.setReady(driver, readyReason(backend.source, drawback));
    const { found } = seeker ?? {};
    await keepAlive({ phone, shell, backend, options, isBusy: () => (driver?.pendingCalls ?? 0) > 0, found });
    const better = seeker?.backend();
    return better && { backend: better, drawback: undefined };
  } finally {
    seeker?.stop();
    backend.close();
  }
}

function readyReason(source: Driver['source'], drawback: string | undefined): string {
  if (drawback === undefined) return 'The phone is ready.';
  return source === 'dump'
    ? `The phone is ready, but its screen is read the slow way ("uiautomator dump") and only ASCII text can be typed: ${drawback}`
    : `The phone is ready, by the ${source === 'resident' ? 'resident helper' : 'UiAutomator2 server'}: ${drawback}`;
}

/**
 * Returns the device info. The serial stands in for the service's device ID, which only the connection to the service
 * knows.
 */
function infoOf(serial: string, description: PhoneDescription): DeviceInfo {
  const { abis: _abis, securityPatch: _securityPatch, ...told } = description;
  return { ...told, serial, deviceId: serial };
}

const reasons: Readonly<Record<Exclude<Unlocking, 'open'>, string>> = {
  no_pin:
    'Enter it on the phone, or give it to the host (PHALANX_PINS_FILE); without a screen lock this never happens.',
  closed: 'The PIN of PHALANX_PINS_FILE did not open it. It is tried once more.',
  given_up:
    'The PIN of PHALANX_PINS_FILE did not open it twice and is not typed again. Correct the file and restart the host, or enter the PIN on the phone.',
};

/**
 * Waits as `booting` or `locked` until Android accepts commands and starts apps. Types the PIN if the host knows it.
 */
async function waitForBoot(
  phone: PhoneRecord,
  shell: PhoneShell,
  { pins, timings, confirmIdentity }: SessionOptions,
): Promise<void> {
  const { gone } = shell.connection;
  const isOpen = async (): Promise<boolean> => (await readPhase(shell)) === 'up';
  for (let phase = await readPhase(shell); phase !== 'up'; phase = await readPhase(shell)) {
    phone.confirm();
    if (phase === 'booting') phone.setTrouble('booting', 'Android is starting on the phone.');
    else {
      await confirmIdentity(phone, shell);
      const unlocking = await pins.unlock(phone.serial, shell, { isOpen, signal: gone });
      if (unlocking === 'open') continue;
      const sentence =
        'The phone was restarted and wants its PIN, pattern or password once before apps can run.';
      phone.setTrouble('locked', `${sentence} ${reasons[unlocking]}`);
    }
    await pause(timings.bootPollMs, gone);
    gone.throwIfAborted();
  }
  await confirmIdentity(phone, shell);
  phone.confirm();
}

/**
 * Reads the boot phase. On some phones the property stays set when only Android's system server restarts, so its
 * package service is asked too. Before the first unlock after a boot, Android runs no app without direct-boot support,
 * such as the UI helper.
 */
async function readPhase(shell: PhoneShell): Promise<'booting' | 'locked' | 'up'> {
  const question = 'getprop sys.boot_completed; pm path android; am get-started-user-state 0';
  const { stdout, stderr } = await askPhone(shell, (signal) => shell.run(question, signal));
  if (!/^1\s*$/m.test(stdout.split('\n')[0] ?? '')) return 'booting';
  const isStarting =
    /Can't find service: package|Could not access the Package Manager|Is the system running/i;
  if (isStarting.test(stdout + stderr)) return 'booting';
  return /RUNNING_LOCKED/.test(stdout) ? 'locked' : 'up';
}
