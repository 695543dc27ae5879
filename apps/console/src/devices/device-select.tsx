import { useQuery } from '@tanstack/react-query';

import { FilterSelect } from '../parts/field.tsx';
import { deviceName, devicesQuery } from './device.tsx';

interface DeviceSelectProps {
  value: string | undefined;
  /** An empty text: any phone. */
  onChange: (deviceId: string) => void;
}

/** A phone that is gone still has what is filtered by it. */
export function DeviceSelect({ value, onChange }: DeviceSelectProps) {
  const { data: devices = [] } = useQuery(devicesQuery);
  const options = devices.map((device) => ({
    value: device.device_id,
    label: `${deviceName(device)} · ${device.serial}`,
  }));
  return <FilterSelect label="Phone" value={value} options={options} onChange={onChange} />;
}
