import type { Device } from '@phalanx/protocol';
import { useState } from 'react';

import { deviceName } from '../../devices/device-name.ts';
import { Button } from '../../parts/button.tsx';
import { Select } from '../../parts/field.tsx';
import { useRemembered } from '../../parts/remembered.ts';
import type { CodeSink } from '../editor/editor-handle.ts';
import { PhoneInHand } from './phone-in-hand.tsx';
import styles from './phone-pane.module.css';

/** A phone that was chosen for the run, beside the code; this browser remembers whether it is open. */
export function PhonePane({ devices, sink }: { devices: readonly Device[]; sink: CodeSink }) {
  const { isOpen, toggle } = useRemembered('phalanx.editor.phone');
  const [chosen, setChosen] = useState<string>();
  const device = devices.find(({ device_id: id }) => id === chosen) ?? devices[0];
  return (
    <section className={styles['pane']} aria-label="Phone" data-open={isOpen}>
      <div className={styles['head']}>
        <h2>Phone</h2>
        {isOpen && device !== undefined && devices.length > 1 && (
          <Select
            label="Phone that is shown"
            value={device.device_id}
            options={devices.map((one) => ({
              value: one.device_id,
              label: `${deviceName(one)} ${one.serial}`,
            }))}
            onChange={setChosen}
          />
        )}
        <Button look="quiet" aria-expanded={isOpen} onClick={toggle}>
          {isOpen ? 'Hide' : 'Show'}
        </Button>
      </div>
      {isOpen &&
        (device === undefined ? (
          <p className={styles['hint']}>Choose a phone above to see its screen here.</p>
        ) : (
          <PhoneInHand key={device.device_id} device={device} sink={sink} />
        ))}
    </section>
  );
}
