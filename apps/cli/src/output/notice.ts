import { printable } from './printable.ts';

/** For people, beside what the command puts out: on standard error. */
export function notice(text: string): void {
  console.error(printable(withNames(text)));
}

/** What a server answers in words, as the output of the command. */
export function printMessage({ message }: { message: string }): void {
  console.log(printable(withNames(message)));
}

const names = new Map<string, string>();

/** People type serials and names, and the server speaks of IDs: from now on both are shown. */
export function rememberName(id: string, name: string): void {
  if (name !== id) names.set(id, name);
}

/** `device 01a1…` → `device SIM0001 (01a1…)`. */
export function withNames(message: string): string {
  let text = message;
  for (const [id, name] of names) if (text.includes(id)) text = text.replaceAll(id, `${name} (${id})`);
  return text;
}
