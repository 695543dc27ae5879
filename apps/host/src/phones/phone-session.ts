import type { DeviceInfo } from '@phalanx/protocol';
import type { AdbConnection } from '../adb/link.ts';
import { createDriver, type Driver } from '../driver/driver.ts';
import { createPhoneShell, type PhoneShell } from '../driver/phone-shell.ts';
import { askPhone } from './ask-phone.ts';
import { keepAlive } from './keep-alive.ts';
import type { PhoneRecord } from './phone-record.ts';
import type { PhoneDescription } from './phone.ts';
import { readDescription } from './read-description.ts';
import type { PhoneRules } from './phone-rules.ts';
import { seekHelper } from './seek-helper.ts';
import { type BackendStart, lowestSdk, startBackend, type StartedBackend } from './start-backend.ts';
import { waitForBoot } from './wait-for-boot.ts';

export interface SessionOptions {
  readonly heartbeatMs: number;
  readonly probeTimeoutMs: number;
  readonly callTimeoutMs: number;
  /** How soon a helper that could not be had is tried again. */
  readonly helperRetryMs: number;
  /** How often a phone that answers is looked after. */
  readonly healthMs: number;
  readonly rules: PhoneRules;
  /** Whether a phone may be restarted when nothing else helped. */
  readonly mayReboot: boolean;
}

// A helper that dies more often is given up for this connection.
const maxHelperDeaths = 5;
const reconnectAt = 3;
const rebootAt = 4;
const deathWindowMs = 10 * 60_000;

/** Brings a connected phone to `ready` and keeps it there. Returns, after closing the connection, when the phone does not answer or is gone. */
export async function runSession(
  phone: PhoneRecord,
  connection: AdbConnection,
  options: SessionOptions,
): Promise<void> {
  const shell = createPhoneShell(connection);
  try {
    await waitForBoot(phone, shell);
    const description = await askPhone(shell, (signal) => readDescription(shell, signal));
    phone.setDescription(description);
    await askPhone(shell, (signal) => hidePasswords(shell, signal));
    while (!connection.gone.aborted) {
      // The helper also dies when Android itself starts anew below a standing connection.
      await waitForBoot(phone, shell);
      const recent = recentDeaths(phone);
      await serve({ phone, shell, description, options, isHelperUsable: recent < maxHelperDeaths });
      phone.helperDeaths.push(performance.now());
      await repair(phone, shell, options.mayReboot);
    }
  } catch (error) {
    if (connection.gone.aborted) return;
    const text = error instanceof Error ? error.message : String(error);
    phone.setTrouble('unresponsive', `${text} Reconnecting.`);
    connection.close(text);
  }
}

/** Else a picture shows the character that was typed last. */
async function hidePasswords(shell: PhoneShell, signal: AbortSignal): Promise<void> {
  await shell.run('settings put system show_password 0', signal);
}

function recentDeaths({ helperDeaths }: PhoneRecord): number {
  return helperDeaths.filter((at) => performance.now() - at < deathWindowMs).length;
}

/** What is tried for a phone whose helper died, ever stronger. Throws where the connection has to end for it. */
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
  readonly description: PhoneDescription;
  readonly options: SessionOptions;
  readonly isHelperUsable: boolean;
}

/** One life of a backend: starts it, offers the driver, returns when the backend has failed. Throws when the phone has. */
async function serve({ phone, shell, description, options, isHelperUsable }: Serving): Promise<void> {
  const state = phone.state.state === 'helper_failed' ? 'helper_failed' : 'connecting';
  if (state === 'connecting') phone.setTrouble(state, 'Starting the UI helper on the phone.');
  const start: BackendStart = {
    shell,
    phone: description,
    isHelperUsable,
    signal: shell.connection.gone,
    onFailure: (reason) => phone.setTrouble(state, reason),
  };
  for (let next: StartedBackend | undefined = await startBackend(start); next !== undefined;)
    next = await serveBy(next, { phone, shell, description, options, isHelperUsable }, start);
}

/** Serves until the backend has failed, or until a better one was found, which it returns. */
async function serveBy(
  { backend, drawback }: StartedBackend,
  { phone, shell, description, options }: Serving,
  start: BackendStart,
): Promise<StartedBackend | undefined> {
  const isBusy = (): boolean => phone.screen.isHeld || (driver?.pendingCalls ?? 0) > 0;
  const seeker =
    drawback === undefined || description.sdkVersion < lowestSdk
      ? undefined
      : seekHelper({ ...start, onFailure: () => {}, firstMs: options.helperRetryMs, isBusy });
  let driver: Driver | undefined;
  try {
    const deviceInfo = (): DeviceInfo => infoOf(phone.serial, description);
    driver = createDriver({
      serial: phone.serial,
      shell,
      backend,
      deviceInfo,
      masks: () => phone.masks.list(),
      timeoutMs: options.callTimeoutMs,
      onAnswer: () => phone.confirm(),
    });
    phone.setReady(
      driver,
      drawback === undefined
        ? 'The phone is ready.'
        : `The phone is ready, but its screen is read the slow way ("uiautomator dump") and only ASCII text can be typed: ${drawback}`,
    );
    const { found } = seeker ?? {};
    await keepAlive({ phone, shell, backend, options, isBusy: () => (driver?.pendingCalls ?? 0) > 0, found });
    const better = seeker?.backend();
    return better && { backend: better, drawback: undefined };
  } finally {
    seeker?.stop();
    backend.close();
  }
}

/** The serial stands for the service's device ID, which only the service's connection knows. */
function infoOf(serial: string, description: PhoneDescription): DeviceInfo {
  const { abis: _abis, securityPatch: _securityPatch, ...told } = description;
  return { ...told, serial, deviceId: serial };
}
