import type { Device } from '@phalanx/protocol';
import { Link, useNavigate } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';

import { LongTable } from '../../parts/long-table.tsx';
import type { Selection } from '../../parts/selection.ts';
import type { Column, TableSort } from '../../parts/table.tsx';
import { Age } from '../../parts/time.tsx';
import { deviceName, DeviceStateMark, labelsText, reasonShown, selectName, stateLooks } from './device.tsx';
import type { FleetSort } from './fleet-search.ts';
import styles from './fleet.module.css';

type FleetColumn = Column<Device> & { readonly sort?: FleetSort };

const name: FleetColumn = {
  header: 'Phone',
  width: 'grow',
  minimum: 140,
  isMain: true,
  sort: 'name',
  text: deviceName,
  content: (device) => (
    <Link to="/devices/$deviceId" params={{ deviceId: device.device_id }}>
      {deviceName(device)}
    </Link>
  ),
};

const serial: FleetColumn = {
  header: 'Serial',
  width: 'grow',
  minimum: 110,
  sort: 'serial',
  text: (device) => device.serial,
  content: (device) => <span className={styles['serial']}>{device.serial}</span>,
};

const state: FleetColumn = {
  header: 'State',
  width: 'fit',
  minimum: 110,
  speaksForItself: true,
  sort: 'state',
  text: (device) => `${stateLooks[device.state].glyph} ${stateLooks[device.state].word}`,
  content: (device) => <DeviceStateMark state={device.state} />,
};

const since: FleetColumn = {
  header: 'Since',
  width: 'fit',
  minimum: 72,
  sort: 'since',
  content: (device) => <Age since={device.since} />,
};

/** Returns the reason for a phone's state and the user who controls it by hand. */
const situationOf = (device: Device): string =>
  [reasonShown(device), device.lease === null ? '' : `${device.lease.user.name} controls it.`]
    .join(' ')
    .trim();

const reason: FleetColumn = {
  header: 'Reason',
  width: 'grow',
  minimum: 160,
  speaksForItself: true,
  text: situationOf,
};

const labels: FleetColumn = { header: 'Labels', width: 'grow', minimum: 90, text: labelsText };

const host: FleetColumn = {
  header: 'Host',
  width: 'grow',
  minimum: 80,
  sort: 'host',
  text: (device) => device.host?.name ?? '–',
};

const android: FleetColumn = {
  header: 'Android',
  width: 'fit',
  sort: 'android',
  text: (device) => (device.android_version === '' ? '–' : device.android_version),
};

const battery: FleetColumn = {
  header: 'Battery',
  width: 'fit',
  isNumber: true,
  sort: 'battery',
  text: ({ battery_percent: percent }) => (percent === null ? '–' : `${percent} %`),
};

/** Returns the columns whose values differ between these phones. */
function columnsFor(devices: readonly Device[]): FleetColumn[] {
  const hosts = new Set(devices.map((device) => device.host?.id));
  return [
    name,
    serial,
    state,
    since,
    ...(devices.some((device) => situationOf(device) !== '') ? [reason] : []),
    ...(devices.some((device) => labelsText(device) !== '') ? [labels] : []),
    ...(hosts.size > 1 ? [host] : []),
    ...(devices.some((device) => device.battery_percent !== null) ? [battery] : []),
    android,
  ];
}

interface FleetTableProps {
  devices: readonly Device[];
  selection: Selection;
  sort: TableSort;
}

const idOf = (device: Device): string => device.device_id;

export function FleetTable({ devices, selection, sort }: FleetTableProps) {
  const navigate = useNavigate();
  const columns = useMemo(() => columnsFor(devices), [devices]);
  const open = useCallback(
    (device: Device) => void navigate({ to: '/devices/$deviceId', params: { deviceId: device.device_id } }),
    [navigate],
  );
  const rowSelection = useMemo(
    () => ({
      ...selection,
      nameOf: selectName,
      // Phones that were not accepted must be selected one by one.
      isLeftOut: ({ accepted }: Device) => !accepted,
    }),
    [selection],
  );
  return (
    <LongTable
      label="Phones"
      rows={devices}
      keyOf={idOf}
      onOpen={open}
      columns={columns}
      selection={rowSelection}
      sort={sort}
    />
  );
}
