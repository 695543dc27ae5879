import { lookUntil } from '../time/look-until.ts';
import { readCurrentApp, systemUi } from './apps/front-app.ts';
import { DriverError } from './driver-error.ts';
import type { PhoneShell } from './shell/phone-shell.ts';
import type { UiBackend } from './ui-backend.ts';

const opensWithinMs = 2000;
const lookMs = 100;

interface ShadeParts {
  readonly shell: PhoneShell;
  readonly backend: Pick<UiBackend, 'openNotifications'>;
}

/**
 * Opens the notification shade, and checks that it has the focus. Throws `not_done` when it does not open: Android
 * reports nothing when the phone's administrator keeps it closed.
 */
export async function openNotifications({ shell, backend }: ShadeParts, signal: AbortSignal): Promise<void> {
  await backend.openNotifications(signal);
  const { packageName } = await lookUntil(() => readCurrentApp(shell, signal), {
    fits: (front) => front.packageName === systemUi,
    until: performance.now() + opensWithinMs,
    pauseMs: lookMs,
    signal,
  });
  if (packageName === systemUi) return;
  throw new DriverError(
    'not_done',
    `The notification shade did not open: ${packageName} has the focus ${opensWithinMs / 1000} s later.`,
  );
}
