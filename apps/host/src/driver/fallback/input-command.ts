import { injectionAdvice } from '../uiautomator2/helper-failure.ts';
import { DriverError } from '../driver-error.ts';
import type { PhoneShell } from '../phone-shell.ts';

/** Runs Android's `input`; each call starts a process on the phone, some 100 to 300 ms. */
export async function runInput(shell: PhoneShell, commandLine: string, signal: AbortSignal): Promise<void> {
  const { stdout, stderr, exitCode } = await shell.run(commandLine, signal);
  const said = `${stderr} ${stdout}`.replace(/\s+/g, ' ').trim();
  if ((exitCode ?? 0) === 0 && !/Exception|^Error/.test(said)) return;
  if (/INJECT_EVENTS/.test(said)) {
    throw new DriverError(
      'input_refused',
      `The phone refuses simulated input (INJECT_EVENTS). ${injectionAdvice}`,
    );
  }
  throw new DriverError(
    'input_refused',
    `The phone refused "${commandLine.slice(0, 60)}": ${said.slice(0, 200) || `exit code ${exitCode}`}.`,
  );
}
