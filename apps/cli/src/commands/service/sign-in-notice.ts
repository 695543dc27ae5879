import type { ServerApp } from '@phalanx/server';

/** Whoever reads this terminal is the administrator; another output may be kept, such as a service's journal. */
export async function signInNotice(server: ServerApp): Promise<void> {
  if (!process.stdout.isTTY) return;
  console.log(`Console, signed in (works once, within the hour):\n\n  ${await server.createSignInLink()}\n`);
}
