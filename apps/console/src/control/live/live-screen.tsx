import type { Device } from '@phalanx/protocol';

import styles from './live.module.css';
import { TouchScreen } from './touch-screen.tsx';
import { useLivePicture } from './use-live-picture.ts';

/** Live picture of a phone, view only. Until it arrives, a sentence says why. */
export function LiveScreen({ device }: { device: Device }) {
  const picture = useLivePicture(device.device_id, { video: true });
  const isShown = picture.address !== undefined || picture.video !== undefined;
  if (isShown) return <TouchScreen picture={picture} touches={undefined} />;
  return (
    <p className={styles['waiting']} role="status">
      {picture.note ?? 'Waiting for the first picture of the phone…'}
    </p>
  );
}
