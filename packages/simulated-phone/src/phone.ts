import type { DeviceSockets } from './adb/services.ts';
import type { Android } from './android/android.ts';
import type { FaultState } from './faults.ts';
import type { Camera } from './screen/camera.ts';
import type { Instrumentation } from './ui-server/instrumentation.ts';

/** Inside of a simulated phone, which shell programs and the UiAutomator2 server use. */
export interface Phone {
  readonly android: Android;
  readonly faults: Readonly<FaultState>;
  readonly camera: Camera;
  readonly instrumentation: Instrumentation;
  readonly sockets: DeviceSockets;
  /** Programs that are encoding video. */
  readonly encoders: Set<object>;
  /** Functions that end the running resident helpers. */
  readonly residents: Set<() => void>;
  /** Whether Android's services are running. */
  readonly isBooted: boolean;
  reboot(): void;
  /** Power of the phone; its signal aborts when the phone is switched off. */
  readonly power: { readonly signal: AbortSignal };
}
