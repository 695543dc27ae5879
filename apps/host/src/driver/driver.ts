import type {
  AgentCallParams,
  AgentCallResult,
  DeviceInfo,
  PhoneCallName,
  ScreenMask,
} from '@phalanx/protocol';
import { withTimeLimit } from '../time/time-limit.ts';
import { restoreAnimations } from './animations.ts';
import { createCallQueue } from './call-queue.ts';
import { callsOf } from './driver-calls.ts';
import { DriverError } from './driver-error.ts';
import { type OneCall, explainFailure } from './explain-failure.ts';
import { createMaskedScreen } from './masks/masked-screen.ts';
import type { PhoneShell } from './phone-shell.ts';
import { takePictureAside } from './take-picture-aside.ts';
import type { TakenPicture } from './taken-picture.ts';
import type { UiBackend } from './ui-backend.ts';

/** Executes the calls of user code on one phone, one after the other. */
export interface Driver {
  /** How the screen is read now. */
  readonly source: UiBackend['source'];
  /** Calls that wait or run. */
  readonly pendingCalls: number;
  /** Parameters must have been validated. Rejects with DriverError only: at once when the phone goes or the signal aborts. */
  call<Name extends PhoneCallName>(
    name: Name,
    params: AgentCallParams<Name>,
    signal?: AbortSignal,
  ): Promise<AgentCallResult<Name>>;
  /**
   * Wakes and opens the screen and holds it awake for so long, before the next call; 0 lets it sleep, and puts the animations
   * back that a run has turned off. Never rejects.
   */
  keepAwake(forMs: number): Promise<void>;
  /** A picture of the screen beside the calls, which don't wait for it. Rejects with DriverError. */
  takePictureAside(params: AgentCallParams<'screen.screenshot'>, signal?: AbortSignal): Promise<TakenPicture>;
}

export interface DriverOptions {
  readonly serial: string;
  readonly shell: PhoneShell;
  readonly backend: UiBackend;
  readonly deviceInfo: () => DeviceInfo;
  /** What of the screen must not be seen now. Default: none. */
  readonly masks?: (() => readonly ScreenMask[]) | undefined;
  /** Limit of a call, besides the time that a long press or a swipe takes by itself. Default 30000. */
  readonly timeoutMs?: number | undefined;
  /** Told after each call that the phone has answered: it is alive. */
  readonly onAnswer?: (() => void) | undefined;
}

const wakeTimeoutMs = 5000;

export function createDriver(options: DriverOptions): Driver {
  const { backend, shell, deviceInfo } = options;
  const driven = { ...options, lost: AbortSignal.any([shell.connection.gone, backend.failed]) };
  const queue = createCallQueue();
  const { masks = () => [] } = options;
  const screen = createMaskedScreen({ backend, masks, deviceInfo });
  const calls = callsOf({ ...options, screen });
  let pendingCalls = 0;
  return {
    source: backend.source,
    get pendingCalls() {
      return pendingCalls;
    },
    async call(name, params, signal) {
      pendingCalls += 1;
      try {
        return await limited(driven, { name, params, signal }, (limit) =>
          queue.run(() => calls[name](params, limit), limit),
        );
      } finally {
        pendingCalls -= 1;
      }
    },
    async keepAwake(forMs) {
      const onTimeout = (): Error => new DriverError('call_timed_out', 'The screen did not wake.');
      // What the phone makes of it, the calls after it tell.
      await withTimeLimit({ timeoutMs: wakeTimeoutMs, signals: [driven.lost], onTimeout }, (limit) =>
        queue.run(async () => {
          await backend.keepAwake(forMs, limit);
          if (forMs > 0) await shell.run('wm dismiss-keyguard', limit);
          else await restoreAnimations(shell, limit);
        }, limit),
      ).catch(() => {});
    },
    takePictureAside: (params, signal) =>
      limited(driven, { name: 'screen.screenshot', params, signal }, async (limit) => {
        const aside = { shell, frames: backend.frames, display: () => displayOf(deviceInfo()) };
        const [picture, hidden] = await screen.take(
          () => takePictureAside(aside, params, limit),
          () => queue.run(() => backend.readTree(limit), limit),
        );
        picture.cover(hidden);
        return picture;
      }),
  };
}

const displayOf = ({ screenWidth, screenHeight }: DeviceInfo): { width: number; height: number } => ({
  width: screenWidth,
  height: screenHeight,
});

/** A phone may look at an APK, and compile it, for minutes. */
const installMs = 180_000;

/** What a call takes by itself, on a phone that answers at once. */
function ownTimeOf({ name, params }: OneCall): number {
  if (name === 'app.install') return installMs;
  if ('durationMs' in params && typeof params.durationMs === 'number') return params.durationMs;
  return 'timeoutMs' in params && typeof params.timeoutMs === 'number' ? params.timeoutMs : 0;
}

interface Driven extends DriverOptions {
  /** Aborted when the phone or its helper is gone. */
  readonly lost: AbortSignal;
}

async function limited<T>(
  driven: Driven,
  call: OneCall,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { serial, lost, timeoutMs = 30_000 } = driven;
  const limitMs = timeoutMs + ownTimeOf(call);
  const onTimeout = (): Error =>
    new DriverError(
      'call_timed_out',
      `The phone ${serial} did not finish ${call.name} in ${limitMs / 1000} s.`,
    );
  try {
    const signals = [call.signal, lost];
    const result = await withTimeLimit({ timeoutMs: limitMs, signals, onTimeout }, work);
    driven.onAnswer?.();
    return result;
  } catch (error) {
    throw await explainFailure(error, call, driven);
  }
}
