/** Asks for the lines of the lock screen. Other lines that end with the same word are of other parts, such as a cover. */
export const keyguardQuestion = "dumpsys window policy | grep -E 'KeyguardServiceDelegate|showing='";

/**
 * Whether the lock screen is shown, by what the phone printed to `keyguardQuestion`; undefined when it does not tell. Its state follows the
 * name of the delegate (AOSP, KeyguardServiceDelegate.dump).
 */
export function isKeyguardShown(printed: string): boolean | undefined {
  const lines = printed.split('\n');
  const heading = lines.findIndex((line) => line.trim() === 'KeyguardServiceDelegate');
  if (heading === -1) return undefined;
  const told = lines.slice(heading + 1).map((line) => /^[ \t]*showing=(true|false)[ \t\r]*$/.exec(line)?.[1]);
  const shown = told.find((value) => value !== undefined);
  return shown === undefined ? undefined : shown === 'true';
}
