import { unreachable } from '@phalanx/client/service-errors';

import { CommandError, exitCodes } from '../../../exit-codes.ts';

/** Reads the tree of a screen from the URL in its record. */
export async function readTree(url: string): Promise<unknown> {
  const response = await fetch(url).catch((error: unknown) => {
    throw unreachable(new URL(url).origin, error);
  });
  if (response.ok) return response.json();
  throw new CommandError(
    exitCodes.refused,
    `The tree of this screen cannot be read (HTTP status ${response.status}): run the command again to get a new address.`,
  );
}
