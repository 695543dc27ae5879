/**
 * Command for the lines of the lock screen. Other lines with the same last word belong to other parts, such as a cover.
 */
export const keyguardQuestion = "dumpsys window policy | grep -E 'KeyguardServiceDelegate|showing='";

const heading = 'KeyguardServiceDelegate';

/**
 * Whether the lock screen is shown, by the output of `keyguardQuestion`. Its state follows the name of the delegate
 * (AOSP, KeyguardServiceDelegate.dump). Undefined when the phone does not report the state, or reports contradicting
 * ones: the title of a window, which is in the same dump, may contain these lines.
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
