import type { Device, PhoneEvent, PhoneFacts } from '@phalanx/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { call } from '../../api/call.ts';
import { Copyable } from '../../parts/copy.tsx';
import { InlineFailure, Loading } from '../../parts/states.tsx';
import { Age, Moment } from '../../parts/time.tsx';
import styles from './device-page.module.css';
import { labelsText, DeviceStateMark } from './device.tsx';

/** Facts about a phone, its health, and its history. */
export const DeviceAbout = ({ device }: { device: Device }) => (
  <div className={styles['about']}>
    <section>
      <h2>Phone</h2>
      <Facts device={device} />
    </section>
    <Health deviceId={device.device_id} />
  </div>
);

function Health({ deviceId }: { deviceId: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['health', deviceId],
    queryFn: async ({ signal }) =>
      (await call('GET /api/v2/devices/:id/history', { params: { id: deviceId } }, { signal })).health,
    retry: false,
  });
  if (data === undefined)
    return (
      <section>
        <h2>Health</h2>
        {error === null ? <Loading /> : <InlineFailure error={error} onRetry={() => void refetch()} />}
      </section>
    );
  return (
    <>
      <section>
        <h2>Health</h2>
        {data.facts === null ? <p>No measurements yet.</p> : <Measured facts={data.facts} />}
      </section>
      <section>
        <h2>History</h2>
        <ol className={styles['history']}>
          {data.events.toReversed().map((event) => (
            <Event key={`${event.at} ${event.kind} ${event.state}`} event={event} />
          ))}
        </ol>
      </section>
    </>
  );
}

/** Decimal gigabyte, as phones report storage. */
const gigabyte = 1e9;
const hourSeconds = 3600;

const Measured = ({ facts }: { facts: PhoneFacts }) => (
  <dl className={styles['facts']}>
    <dt>Battery</dt>
    <dd>
      {levelText(facts)}
      {facts.charging === true && ', charging'}
      {facts.temperature_celsius !== null && `, ${facts.temperature_celsius} °C`}
    </dd>
    <dt>Battery’s health</dt>
    <dd>{batteryText(facts)}</dd>
    <dt>Charge limit</dt>
    <dd>{facts.charge_limit ?? (hasNoBattery(facts) ? 'none' : 'unknown')}</dd>
    <dt>Free storage</dt>
    <dd>{storageText(facts)}</dd>
    <dt>Screen</dt>
    <dd>{facts.screen ?? 'unknown'}</dd>
    <dt>Wi-Fi</dt>
    <dd>{facts.wifi_address ?? 'unknown'}</dd>
    <dt>Up for</dt>
    <dd>
      {facts.uptime_seconds === null ? 'unknown' : `${(facts.uptime_seconds / hourSeconds).toFixed(1)} h`}
    </dd>
    <dt>Measured</dt>
    <dd>
      <Age since={facts.sampled_at} /> ago
    </dd>
  </dl>
);

const inGigabytes = (bytes: number): string => `${(bytes / gigabyte).toFixed(1)} GB`;

const storageText = ({ free_bytes: free, storage_bytes: all }: PhoneFacts): string => {
  if (free === null) return 'unknown';
  return typeof all === 'number' ? `${inGigabytes(free)} of ${inGigabytes(all)}` : inGigabytes(free);
};

const hasNoBattery = ({ battery_present: isPresent }: PhoneFacts): boolean => isPresent === false;

const levelText = (facts: PhoneFacts): string => {
  if (hasNoBattery(facts)) return 'none';
  return facts.battery_percent === null ? 'unknown' : `${facts.battery_percent} %`;
};

const batteryText = (facts: PhoneFacts): string => {
  if (hasNoBattery(facts)) return 'none';
  const { battery_capacity_percent: capacity, battery_cycles: cycles, battery_volts: volts } = facts;
  const parts = [
    facts.battery_health ?? 'unknown',
    typeof volts === 'number' ? `${volts.toFixed(2)} V` : [],
    typeof capacity === 'number' ? `${capacity} % of its capacity` : [],
    typeof cycles === 'number' ? `${cycles} cycles` : [],
  ];
  return parts.flat().join(', ');
};

const Event = ({ event: { at, kind, state, step, reason } }: { event: PhoneEvent }) => (
  <li>
    <Moment at={at} />
    {kind === 'state' ? <DeviceStateMark state={state} /> : <b>repair: {step?.replace('_', ' ')}</b>}
    <span>{reason}</span>
  </li>
);

const Facts = ({ device }: { device: Device }) => (
  <dl className={styles['facts']}>
    <dt>State</dt>
    <dd>
      <DeviceStateMark state={device.state} /> since <Moment at={device.since} />
    </dd>
    <dt>Reason</dt>
    <dd>{device.reason}</dd>
    {device.warnings.length > 0 && (
      <>
        <dt>Warnings</dt>
        <dd>
          {device.warnings.map(({ code, reason }) => (
            <div key={code}>{reason}</div>
          ))}
        </dd>
      </>
    )}
    <dt>Last confirmed</dt>
    <dd>
      {device.confirmed_at === null ? 'not since the service started' : <Moment at={device.confirmed_at} />}
    </dd>
    <dt>Running</dt>
    <dd>
      {device.running.length === 0
        ? 'nothing'
        : device.running.map((run) => (
            <div key={run.run_id}>
              {run.automation_id === null ? (
                <span>direct code by {run.user.name}</span>
              ) : (
                <Link to="/runs/$runId" params={{ runId: run.run_id }}>
                  run by {run.user.name}
                </Link>
              )}
            </div>
          ))}
    </dd>
    <dt>Name</dt>
    <dd>{device.name || 'none'}</dd>
    <dt>Labels</dt>
    <dd>{labelsText(device) || 'none'}</dd>
    <dt>Maker and model</dt>
    <dd>{`${device.brand} ${device.model}`.trim() || 'unknown'}</dd>
    <dt>Serial</dt>
    <dd>
      <code>{device.serial}</code>
    </dd>
    <dt>Device ID</dt>
    <dd>
      <Copyable text={device.device_id} label="Copy the device ID" />
    </dd>
    <dt>Android</dt>
    <dd>
      {device.android_version === ''
        ? 'unknown'
        : `${device.android_version}, API level ${device.sdk_version}`}
    </dd>
    <dt>Screen</dt>
    <dd>
      {device.screen_width} × {device.screen_height}
    </dd>
    <dt>Host</dt>
    <dd>{hostText(device)}</dd>
    <dt>Controlled by</dt>
    <dd>
      {device.lease === null ? (
        'no one'
      ) : (
        <>
          {device.lease.user.name} since <Moment at={device.lease.since} />
        </>
      )}
    </dd>
    <dt>Owner</dt>
    <dd>{device.owner.name}</dd>
    <dt>Your role</dt>
    <dd>{device.accepted ? device.role : `${device.role}, not accepted yet`}</dd>
  </dl>
);

function hostText({ host, state }: Device): string {
  if (host === null) return 'none';
  if (!host.connected) return `${host.name} (not connected)`;
  return state === 'offline' ? `${host.name} (the host does not see the phone)` : host.name;
}
