import { useQuery } from '@tanstack/react-query';

import { Select } from '../parts/field.tsx';
import { deviceName } from './device-name.ts';
import { devicesQuery } from './queries.ts';

interface DeviceSelectProps {
  value: string | undefined;
  /** An empty text: any phone. */
  onChange: (deviceId: string) => void;
}

/** A filter. A phone that is gone still has what is filtered by it. */
export function DeviceSelect({ value = '', onChange }: DeviceSelectProps) {
  const { data: devices = [] } = useQuery(devicesQuery);
  const isKnown = value === '' || devices.some((one) => one.device_id === value);
  return (
    <Select
      label="Phone"
      value={value}
      options={[
        { value: '', label: 'Any phone' },
        ...(isKnown ? [] : [{ value, label: `Phone ${value.slice(0, 8)}` }]),
        ...devices.map((device) => ({
          value: device.device_id,
          label: `${deviceName(device)} · ${device.serial}`,
        })),
      ]}
      onChange={onChange}
    />
  );
}
