import { ApiError } from '../errors/api-error.ts';
import type { Principal } from '../http/principal.ts';
import type { DeviceAccess, SeenDevice } from './device-access.ts';

/** Throws unless the caller may touch it. */
export async function getTouchable(
  access: DeviceAccess,
  id: string,
  { userId, projectIds }: Principal,
): Promise<SeenDevice> {
  const seen = await access.get(id, userId);
  if (seen.role === 'view')
    throw ApiError.of('forbidden', { reason: 'This device is shared with you for looking only' });
  if (projectIds !== null)
    throw ApiError.of('forbidden', {
      reason: 'A token that is limited to projects touches no phone by hand',
    });
  return seen;
}
