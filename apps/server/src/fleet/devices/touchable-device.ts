import { ApiError } from '../../kernel/errors/api-error.ts';
import type { Principal } from '../../http/requests/principal.ts';
import type { DeviceAccess, SeenDevice } from './device-access.ts';

/** Returns the device. Throws unless the caller may touch it. */
export async function getTouchable(
  access: DeviceAccess,
  id: string,
  { userId }: Principal,
): Promise<SeenDevice> {
  const seen = await access.get(id, userId);
  if (seen.role === 'view')
    throw ApiError.of('forbidden', { reason: 'This device is shared with you to view only' });
  return seen;
}
