import type {
  AgentCallParams,
  AgentCallResult,
  AppLimit,
  Bounds,
  DeviceInfo,
  PhoneCallName,
  PhoneSettings,
  RecordedApp,
  UiNode,
} from '@phalanx/protocol';
import { type HostTimings, hostTimings } from '../time/host-timings.ts';
import { withTimeLimit } from '../time/time-limit.ts';
import { readAppFacts } from './apps/app-facts.ts';
import { createAppLauncher } from './apps/apps.ts';
import { createHomeFinder, LimitedApps, limitCalls } from './apps/limited-apps.ts';
import { createPhoneQueue } from './call-queue.ts';
import { type Calls, callsOf, readings } from './driver-calls.ts';
import { Display, type DisplaySize } from './display.ts';
import { DriverError, UndoneCallError } from './driver-error.ts';
import { type DrivenPhone, limited } from './limited-call.ts';
import { createMaskedScreen } from './masks/masked-screen.ts';
import type { HeldMask } from './masks/typed-secrets.ts';
import type { PhoneUse } from './phone-use.ts';
import { createScreenPictures, type PictureOrder } from './pictures/picture-of-moment.ts';
import type { TakenPicture } from './pictures/taken-picture.ts';
import { ScreenChange } from './screen-change.ts';
import { type EarlierValues, putSettingsBack, tellLocationAgain } from './settings/change-settings.ts';
import { isKeyguardShown, keyguardQuestion } from './shell/keyguard.ts';
import type { PhoneShell } from './shell/phone-shell.ts';
import { noPasswordMemory, Touches } from './typed-password.ts';
import type { UiBackend } from './ui-backend.ts';

/** Executes the calls of user code on one phone, one after the other. */
export interface Driver {
  /** Source from which the screen is read now. */
  readonly source: UiBackend['source'];
  /** Number of calls that wait or run. */
  readonly pendingCalls: number;
  /**
   * Executes a call with validated parameters. Rejects only with DriverError, and at once when the phone is lost or the
   * signal aborts.
   */
  call<Name extends PhoneCallName>(
    name: Name,
    params: AgentCallParams<Name>,
    signal?: AbortSignal,
  ): Promise<AgentCallResult<Name>>;
  /**
   * Wakes and unlocks the screen and keeps it awake for `forMs`, before the next call; 0 lets it sleep. Never rejects.
   */
  keepAwake(forMs: number): Promise<void>;
  /**
   * Restores the changed settings of these places before the next call. Keeps failed ones for a later attempt. Never
   * rejects.
   */
  putSettingsBack(isMeant: (place: string) => boolean): Promise<void>;
  /** Sends the mock location to the phone again, concurrently with the calls. Never rejects. */
  tellLocation(location: NonNullable<PhoneSettings['location']>): Promise<void>;
  /** Returns the parts of a tree that must not be seen; undefined for a tree that this driver has not read. */
  hiddenIn(root: UiNode): readonly Bounds[] | undefined;
  /**
   * Returns a digest of what the screen of a tree showed, as masked then; undefined for a tree that this driver has not
   * read.
   */
  digestOf(root: UiNode): string | undefined;
  /** Queries the facts of an app, concurrently with the calls. Rejects with DriverError. */
  readApp(packageName: string, signal: AbortSignal): Promise<RecordedApp>;
  /** Makes calls that change the screen wait from now on until the hold is released. Returns the release. */
  holdScreen(): () => void;
  /**
   * Takes a picture of the screen of a tree; undefined when the phone shows another screen. Rejects with DriverError.
   */
  takePictureOf(order: Omit<PictureOrder, 'signal'>, signal?: AbortSignal): Promise<TakenPicture | undefined>;
  /**
   * Takes a small picture of about now, concurrently with the calls, which don't wait for it. Rejects with DriverError.
   */
  takeLivePicture(signal?: AbortSignal): Promise<TakenPicture>;
  /**
   * Takes a small picture with the parts hidden that the tree of its moment requires, like pictures of records.
   * Undefined when a call that changes the screen waits or runs, or the screen moves. Calls wait at most for one
   * reading of the screen.
   */
  takePassingPicture(signal?: AbortSignal): Promise<TakenPicture | undefined>;
  /**
   * Returns the driver for one use of the phone. Its calls run only while the use lasts, and data may be remembered for
   * it.
   */
  usedBy(use: PhoneUse): Driver;
  /** Returns the driver limited to these apps; undefined allows all apps. */
  limitedTo(limit: AppLimit | undefined): Driver;
}

export interface DriverOptions {
  readonly serial: string;
  readonly shell: PhoneShell;
  readonly backend: UiBackend;
  readonly deviceInfo: () => DeviceInfo;
  /** Called with each new size of the main display; `deviceInfo` has the first one. */
  readonly onDisplay?: ((size: DisplaySize) => void) | undefined;
  /** Masks that currently hide parts of the screen. Default: none. */
  readonly masks?: (() => readonly HeldMask[]) | undefined;
  /** Called with each tree that is read, with unmasked texts. */
  readonly onTree?: ((root: UiNode) => void) | undefined;
  /** Default `hostTimings`. */
  readonly timings?: HostTimings | undefined;
  /** Values of the phone from before settings were changed. Default: none, and they are lost with the driver. */
  readonly earlier?: EarlierValues | undefined;
  /** Opens a lock screen that requires a PIN; `isOpen` queries the phone. Default: the screen stays locked. */
  readonly unlock?: ((isOpen: () => Promise<boolean>, signal: AbortSignal) => Promise<unknown>) | undefined;
  /** Called after each call that the phone has answered, which shows that it responds. */
  readonly onAnswer?: (() => void) | undefined;
}

const wakeTimeoutMs = 5000;
const putBackTimeoutMs = 10_000;

export function createDriver(options: DriverOptions): Driver {
  const { backend, shell } = options;
  const { masks = () => [], earlier = forgottenValues(), timings = hostTimings } = options;
  const driven: DrivenPhone = {
    ...options,
    timings,
    lost: AbortSignal.any([shell.connection.gone, backend.failed]),
  };
  const queue = createPhoneQueue();
  const display = new Display(shell, options.deviceInfo(), options.onDisplay);
  const screen = createMaskedScreen({ backend, shell, masks, display, onTree: options.onTree });
  const touches = new Touches();
  const parts = {
    ...options,
    deviceInfo: () => ({ ...options.deviceInfo(), ...display.size }),
    earlier,
    screen,
    touches,
    change: new ScreenChange(backend, queue, timings),
    launcher: createAppLauncher(shell),
  };
  const pictures = createScreenPictures({ queue, screen, shell, backend, display });
  let pendingCalls = 0;
  let pendingChanges = 0;
  const findHome = createHomeFinder(shell);
  const driverOf = (use: PhoneUse | undefined, limits: readonly LimitedApps[]): Driver => {
    const passwords = use?.passwordMemory(touches, timings.passwordMs) ?? noPasswordMemory;
    const own = { passwords, limits, onCopy: () => use?.copies() };
    const calls = limits.reduce(limitCalls, callsOf({ ...parts, ...own }));
    return drive(calls, { use, limits, over: use?.over, apps: limits.at(-1) });
  };
  const drive = (calls: Calls, { use, limits, over, apps }: View): Driver => ({
    source: backend.source,
    get pendingCalls() {
      return pendingCalls;
    },
    async call(name, params, signal) {
      // Runs concurrently with the other calls, and uses the phone no more than necessary.
      if (name === 'screen.change')
        return await limited(driven, { name, params, signal, over }, (limit) => calls[name](params, limit));
      pendingCalls += 1;
      const changes = !readings.has(name);
      if (changes) pendingChanges += 1;
      let hasBegun = false;
      try {
        return await limited(driven, { name, params, signal, over }, (limit) =>
          queue.run(
            () => {
              hasBegun = true;
              if (changes) touches.count += 1;
              return calls[name](params, limit);
            },
            { changes, signal: limit },
          ),
        );
      } catch (error) {
        if (hasBegun || !(error instanceof DriverError)) throw error;
        throw new UndoneCallError(error.code, error.message, error);
      } finally {
        if (changes) screen.noteInput();
        if (changes) touches.endedAt = performance.now();
        if (changes) pendingChanges -= 1;
        pendingCalls -= 1;
      }
    },
    async keepAwake(forMs) {
      const onTimeout = (): Error => new DriverError('call_timed_out', 'The screen did not wake.');
      // Ignores a failure: the following calls report the phone's state.
      await withTimeLimit({ timeoutMs: wakeTimeoutMs, signals: [driven.lost], onTimeout }, (limit) =>
        queue.run(
          async () => {
            await backend.keepAwake(forMs, limit);
            if (forMs > 0) await openScreen(options, limit);
          },
          { changes: true, signal: limit },
        ),
      ).catch(() => {});
    },
    async putSettingsBack(isMeant) {
      const onTimeout = (): Error => new DriverError('call_timed_out', 'The settings were not put back.');
      await withTimeLimit({ timeoutMs: putBackTimeoutMs, signals: [driven.lost], onTimeout }, (limit) =>
        queue.run(() => putSettingsBack({ shell, earlier }, isMeant, limit), {
          changes: true,
          signal: limit,
        }),
      ).catch(() => {});
    },
    async tellLocation(location) {
      const onTimeout = (): Error => new DriverError('call_timed_out', 'The location was not told.');
      await withTimeLimit({ timeoutMs: putBackTimeoutMs, signals: [driven.lost], onTimeout }, (limit) =>
        tellLocationAgain(shell, location, limit),
      ).catch(() => {});
    },
    hiddenIn: (root) => screen.hiddenIn(root),
    digestOf: (root) => screen.digestOf(root),
    readApp: (packageName, signal) =>
      limited(driven, { name: 'app.current', params: {}, signal }, (limit) =>
        readAppFacts(shell, packageName, limit),
      ),
    holdScreen: () => queue.holdScreen(),
    takePictureOf: (order, signal) =>
      limited(driven, { name: 'screen.screenshot', params: order.form, signal }, async (limit) => {
        await apps?.requireShown(order.root, limit);
        return await pictures.takeOf({ ...order, signal: limit });
      }),
    takeLivePicture: (signal) =>
      limited(driven, { name: 'screen.screenshot', params: {}, signal }, async (limit) => {
        await apps?.requireFront(limit);
        return await pictures.takeLive(limit);
      }),
    takePassingPicture: (signal) =>
      limited(driven, { name: 'screen.screenshot', params: {}, signal }, async (limit) => {
        if (apps !== undefined && !(await apps.isInFront(limit))) return undefined;
        return await pictures.takePassing(() => pendingChanges > 0, limit);
      }),
    usedBy: (user) => driverOf(user, limits),
    limitedTo(limit) {
      const added = limit === undefined ? [] : [new LimitedApps(limit, shell, findHome)];
      return driverOf(use, [...limits, ...added]);
    },
  });
  return driverOf(undefined, []);
}

/** User of a driver, with the user's limits. */
interface View {
  readonly use: PhoneUse | undefined;
  readonly over: AbortSignal | undefined;
  readonly limits: readonly LimitedApps[];
  /** Last of the limits. */
  readonly apps: LimitedApps | undefined;
}

function forgottenValues(): EarlierValues {
  let values: ReadonlyMap<string, string> = new Map();
  return {
    get values() {
      return values;
    },
    save: async (changed) => {
      values = changed;
    },
  };
}

/**
 * Opens the screen. Types a PIN only when the phone reports that it is locked: otherwise the PIN would go to the app in
 * front.
 */
async function openScreen({ shell, unlock }: DriverOptions, signal: AbortSignal): Promise<void> {
  const isLocked = async (): Promise<boolean | undefined> =>
    isKeyguardShown((await shell.run(keyguardQuestion, signal)).stdout);
  await shell.run('wm dismiss-keyguard', signal);
  if (unlock === undefined || (await isLocked()) !== true) return;
  await unlock(async () => (await isLocked()) === false, signal);
}
