export const wakefulnessQuestion = 'dumpsys power | grep mWakefulness=';

/**
 * Reads whether a phone is `Awake`, `Asleep` or `Dozing` from the first match: the names of wake locks, which apps
 * choose, follow below.
 */
export function wakefulnessIn(printed: string): string | undefined {
  return /^[ \t]*mWakefulness=(\w{1,20})/m.exec(printed)?.[1];
}

export const isDark = (printed: string): boolean =>
  ['Asleep', 'Dozing'].includes(wakefulnessIn(printed) ?? '');
