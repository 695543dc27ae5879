import type { PhoneShell } from '../shell/phone-shell.ts';

/** Finds the package of the selected keyboard, because not every source reports the type of a window. */
export async function findKeyboard(shell: PhoneShell, signal: AbortSignal): Promise<string | undefined> {
  const { stdout } = await shell.run('settings get secure default_input_method', signal);
  return stdout.trim().split('/', 1)[0];
}
