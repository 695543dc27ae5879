import type { Device } from '@phalanx/protocol';

import { deviceName } from '../devices/device-name.ts';
import { useWallPicture } from './wall-connection.ts';

/** What a phone shows, small and live. */
export function WallPicture({ device }: { device: Device }) {
  const { address, note } = useWallPicture(device.device_id);
  if (address !== undefined) return <img src={address} alt={`What ${deviceName(device)} shows`} />;
  return <span title={note}>{note === undefined ? '' : 'screen is private or off'}</span>;
}
