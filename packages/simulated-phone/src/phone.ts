import type { DeviceSockets } from './adb/services.ts';
import type { Android } from './android/android.ts';
import type { FaultState } from './faults.ts';
import type { Camera } from './screen/camera.ts';
import type { Instrumentation } from './ui-server/instrumentation.ts';

/** The inside of a simulated phone: what shell programs and the UiAutomator2 server work with. */
export interface Phone {
  readonly android: Android;
  readonly faults: Readonly<FaultState>;
  readonly camera: Camera;
  readonly instrumentation: Instrumentation;
  readonly sockets: DeviceSockets;
  /** The programs that encode video now. */
  readonly encoders: Set<object>;
  /** How to end the resident helpers that run. */
  readonly residents: Set<() => void>;
  /** Android's services are there. */
  readonly isBooted: boolean;
  reboot(): void;
  /** Its signal aborts when the phone goes off. */
  readonly power: { readonly signal: AbortSignal };
}
