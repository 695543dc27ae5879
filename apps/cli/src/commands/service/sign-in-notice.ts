import type { ServerApp } from '@phalanx/server';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

/** Whoever reads this terminal is the administrator; another output may be kept, such as a service's journal. */
export async function signInNotice(server: ServerApp): Promise<void> {
  if (!process.stdout.isTTY) return;
  console.log(`Console, signed in (works once, within the hour):\n\n  ${await server.createSignInLink()}\n`);
}

/**
 * A terminal shows it, once. Any other output may be kept, such as a service's journal: there it goes into a file that
 * only the owner of the data folder can read.
 */
export function firstTokenNotice(token: string | undefined, dataDir: string): void {
  if (token === undefined) return;
  if (process.stdout.isTTY) {
    console.log(`\nThe administrator's token, shown this once. Keep it safe:\n\n  ${token}\n`);
    return;
  }
  const file = path.resolve(dataDir, 'first-token');
  writeFileSync(file, `${token}\n`, { mode: 0o600 });
  console.log(`The administrator's token is in ${file}: take it and delete the file.`);
}
