import type { Address } from '@phalanx/settings';
import type { Logger } from 'pino';
import { watchAdbServer } from '../adb/adb-server.ts';
import { watchAddress } from '../adb/direct-tcp.ts';
import { loadHostKey } from '../adb/host-key.ts';
import type { LinkListener, LinkSource } from '../adb/link.ts';
import type { ReconnectPauses } from '../adb/reconnect.ts';
import { EarlierSettings } from '../driver/settings/change-settings.ts';
import { PhoneHistories } from './health/phone-histories.ts';
import type { Phone } from './phone.ts';
import type { NoVideo } from '../driver/video/screen-video.ts';
import type { ScrcpyServer } from '../driver/video/scrcpy-file.ts';
import { PhonePins } from './phone-pins.ts';
import type { PhoneRules } from './health/phone-health.ts';
import { KnownPhones } from './identity/known-phones.ts';
import { PhoneRegistry } from './phone-registry.ts';
import type { HelperChoice } from '../config.ts';
import type { HostStore } from '../store/host-store.ts';
import { type HostTimings, hostTimings } from '../time/host-timings.ts';
import { StartQueue, type StartQueueOptions } from './start/start-queue.ts';

export interface WatchPhonesOptions {
  /** Address of the adb server. Undefined: no adb server is used. */
  readonly adbServer?: Address | undefined;
  /** Addresses of phones that are reached without an adb server. */
  readonly addresses: readonly Address[];
  /** Folder with the host's ADB key. */
  readonly dataDir: string;
  readonly store: HostStore;
  readonly log: Logger;
  /** Default `hostTimings`. */
  readonly timings?: Partial<HostTimings> | undefined;
  /** Default: no limits. */
  readonly rules?: PhoneRules | undefined;
  /** Whether the host may reboot a phone as the last resort. Default false. */
  readonly mayReboot?: boolean | undefined;
  readonly starts?: StartQueueOptions | undefined;
  /** Pauses before adb is asked to reconnect an offline phone. Default: 5 s, then doubling up to an hour. */
  readonly reconnectPauses?: ReconnectPauses | undefined;
  /** PINs of the phones. Default: none. */
  readonly pins?: PhonePins | undefined;
  /** UI helper to use. Default `auto`. */
  readonly helper?: HelperChoice | undefined;
  /** Server that encodes video on phones. Default: none. */
  readonly scrcpy?: ScrcpyServer | NoVideo | undefined;
  /** Returns the time in epoch milliseconds. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

export interface PhoneWatch {
  /** Returns all phones seen since the start, including those that are away. */
  phones(): readonly Phone[];
  /** Reason why there are no phones, and what to do. Undefined when there are some, or when none is connected. */
  readonly problem: string | undefined;
  find(serial: string): Phone | undefined;
  /**
   * Calls the listener for new phones and for each change of state or reason. A phone that `phones()` no longer
   * contains was found to be another one. Returns a function that unsubscribes.
   */
  onChange(listener: (phone: Phone) => void): () => void;
  close(): Promise<void>;
}

const noRules: PhoneRules = { minBatteryPercent: 0, maxTemperatureCelsius: 0, trimBelowPercent: 0 };

/** Finds the phones of this machine and network, and keeps each one usable as far as the host can. */
export function watchPhones(options: WatchPhonesOptions): PhoneWatch {
  const {
    now = Date.now,
    rules = noRules,
    mayReboot = false,
    helper = 'auto',
    pins = new PhonePins(),
    scrcpy = { reason: 'no scrcpy server on the host' },
  } = options;
  const starts = new StartQueue(options.starts);
  const timings = { ...hostTimings, ...options.timings };
  const histories = new PhoneHistories(options.store, options.log);
  const earlier = new EarlierSettings(options.store);
  const known = new KnownPhones(options.store, options.log);
  const registry = new PhoneRegistry(
    {
      timings,
      rules,
      mayReboot,
      starts,
      helper,
      pins,
      scrcpy,
    },
    { histories, earlier, known, log: options.log, now },
  );
  const sources = histories
    .load()
    .catch((error: unknown) => options.log.error({ err: error }, 'Histories of phones can not be kept'))
    .then(() => earlier.load())
    .catch((error: unknown) =>
      options.log.error({ err: error }, 'Earlier settings of phones can not be read'),
    )
    .then(() => known.load())
    .catch((error: unknown) => options.log.error({ err: error }, 'It can not be read which phones are known'))
    .then(() => startSources(options, (link) => registry.take(link)));
  let started: readonly LinkSource[] = [];
  void sources.then((all) => (started = all));
  return {
    phones: () => registry.phones(),
    get problem() {
      if (registry.phones().length > 0) return undefined;
      return started.find(({ problem }) => problem !== undefined)?.problem;
    },
    find: (serial) => registry.find(serial),
    onChange: (listener) => registry.onChange(listener),
    async close() {
      await Promise.all((await sources).map((source) => source.close()));
      await registry.close();
      await histories.close();
      await known.close();
    },
  };
}

async function startSources(options: WatchPhonesOptions, onLink: LinkListener): Promise<LinkSource[]> {
  const { adbServer, addresses, dataDir, log, reconnectPauses } = options;
  const servers =
    adbServer === undefined ? [] : [watchAdbServer({ address: adbServer, log, onLink, reconnectPauses })];
  if (addresses.length === 0) return servers;
  try {
    const key = await loadHostKey(dataDir);
    return [...servers, ...addresses.map((address) => watchAddress({ address, key, onLink }))];
  } catch (error) {
    log.error({ err: error }, 'the ADB key can not be used: phones on direct addresses are left out');
    return servers;
  }
}
