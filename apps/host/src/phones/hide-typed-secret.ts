import type { UiNode } from '@phalanx/protocol';

import { DriverError } from '../driver/driver-error.ts';
import { findNode } from '../driver/find-node.ts';
import type { TypedSecret } from '../driver/masks/typed-secrets.ts';
import type { Phone } from './phone.ts';

interface Typing extends TypedSecret {
  readonly readScreen: () => Promise<{ readonly root: UiNode }>;
}

/**
 * Hides the focused field before the secret is typed. Throws when the focused field is unknown: a secret is never typed
 * into a field that can't be hidden.
 */
export async function hideTypedSecret(
  phone: Pick<Phone, 'typedSecrets'>,
  { secret, by, readScreen }: Typing,
): Promise<void> {
  const { root } = await readScreen().catch(refuse);
  const field = findNode(root, ({ focused }) => focused);
  if (field === undefined)
    throw new DriverError('no_focused_field', 'No text field has the focus. Tap one first.');
  phone.typedSecrets.add(field, { secret, by });
}

function refuse(error: unknown): never {
  if (!(error instanceof DriverError)) throw error;
  const why =
    'The secret was not typed, because the field with the focus could not be read, and so not hidden';
  throw new DriverError(error.code, `${why}. ${error.message}`, error);
}
