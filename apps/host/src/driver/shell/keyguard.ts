/** Asks for the lines of the lock screen. Other lines that end with the same word are of other parts, such as a cover. */
export const keyguardQuestion = "dumpsys window policy | grep -E 'KeyguardServiceDelegate|showing='";

const heading = 'KeyguardServiceDelegate';

/**
 * Whether the lock screen is shown, by what the phone printed to `keyguardQuestion`. Its state follows the name of the delegate (AOSP,
 * KeyguardServiceDelegate.dump). Undefined where the phone does not tell, and where it is told twice, each time otherwise: the title of a
 * window, which stands in the same dump, may hold these lines.
 */
export function isKeyguardShown(printed: string): boolean | undefined {
  const lines = printed.split('\n').map((line) => line.trim());
  const states = lines.flatMap((line, index) => (line === heading ? [stateBelow(lines, index)] : []));
  const [first] = states;
  return states.every((state) => state === first) ? first : undefined;
}

function stateBelow(lines: readonly string[], index: number): boolean | undefined {
  const told = lines.slice(index + 1).find((line) => /^showing=(?:true|false)$/.test(line));
  return told === undefined ? undefined : told === 'showing=true';
}
