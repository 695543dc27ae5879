import type { PhoneShell } from '../shell/phone-shell.ts';

/** The package of the keyboard that is chosen: not everything tells what kind a window is of. */
export async function findKeyboard(shell: PhoneShell, signal: AbortSignal): Promise<string | undefined> {
  const { stdout } = await shell.run('settings get secure default_input_method', signal);
  return stdout.trim().split('/', 1)[0];
}
