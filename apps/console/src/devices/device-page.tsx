import type { Device } from '@phalanx/protocol';
import { Tabs } from '@base-ui/react/tabs';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';

import { useMissingScope } from '../api/me.ts';
import { LaunchDialog } from '../launches/launch-dialog.tsx';
import { StopDialog } from '../launches/stop-dialog.tsx';
import { Button } from '../parts/button.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { Page } from '../parts/page.tsx';
import { Empty, Failure, Loading } from '../parts/states.tsx';
import { Age, Moment } from '../parts/time.tsx';
import { RunList } from '../runs/run-list.tsx';
import { Inspector } from '../screens/inspector.tsx';
import { deviceName } from './device-name.ts';
import styles from './device-page.module.css';
import { DeviceStateMark, isReady } from './device-state.tsx';
import { devicesQuery } from './queries.ts';
import { screenQuery } from './screen-query.ts';

const route = getRouteApi('/devices/$deviceId');

export function DevicePage() {
  const { deviceId } = route.useParams();
  const { data: all, error, refetch } = useQuery(devicesQuery);
  const device = all?.find((one) => one.device_id === deviceId);
  if (device !== undefined) return <Shown key={deviceId} device={device} />;
  return (
    <Page title="Phone">
      {all !== undefined ? (
        <Empty title="There is no such phone" action={<Link to="/devices">Go to the fleet</Link>}>
          It was forgotten, or it is no longer shared with you.
        </Empty>
      ) : error === null ? (
        <Loading />
      ) : (
        <Failure error={error} onRetry={() => void refetch()} />
      )}
    </Page>
  );
}

function Shown({ device }: { device: Device }) {
  const [tab, setTab] = useState('screen');
  return (
    <Tabs.Root className={styles['page']} value={tab} onValueChange={setTab}>
      <Page
        title={deviceName(device)}
        aside={
          <span>
            <DeviceStateMark state={device.state} /> <Age since={device.since} />
          </span>
        }
        actions={<Actions device={device} />}
        bar={
          <>
            <Tabs.List className={styles['tabs']} aria-label="Parts of the page">
              <Tabs.Tab value="screen" className={styles['tab']}>
                Screen
              </Tabs.Tab>
              <Tabs.Tab value="runs" className={styles['tab']}>
                Runs
              </Tabs.Tab>
              <Tabs.Tab value="about" className={styles['tab']}>
                About
              </Tabs.Tab>
            </Tabs.List>
            <span className={styles['reason']}>{device.reason}</span>
          </>
        }
      >
        <Tabs.Panel value="screen" className={styles['panel']}>
          <Screen device={device} />
        </Tabs.Panel>
        <Tabs.Panel value="runs" className={styles['panel']}>
          <RunList
            search={{ device: device.device_id }}
            empty={<Empty title="Nothing has run on it yet" />}
          />
        </Tabs.Panel>
        <Tabs.Panel value="about" className={styles['panel']}>
          <About device={device} />
        </Tabs.Panel>
      </Page>
    </Tabs.Root>
  );
}

function Actions({ device }: { device: Device }) {
  const [open, setOpen] = useState<'launch' | 'stop'>();
  const missing = useMissingScope('launch');
  const notYours =
    device.role === 'view'
      ? `${device.owner.name} has shared this phone with you for looking only.`
      : undefined;
  const close = (): void => setOpen(undefined);
  return (
    <>
      {device.running.length > 0 && (
        <Button look="danger" reason={missing ?? notYours} onClick={() => setOpen('stop')}>
          Stop…
        </Button>
      )}
      <Button
        look="primary"
        reason={missing ?? notYours ?? (isReady(device) ? undefined : device.reason)}
        onClick={() => setOpen('launch')}
      >
        Launch…
      </Button>
      {open === 'launch' && <LaunchDialog devices={[device]} onClose={close} />}
      {open === 'stop' && <StopDialog devices={[device]} onClose={close} />}
    </>
  );
}

const followMs = 1500;
const staleMs = 4000;

function Screen({ device }: { device: Device }) {
  const [isFollowing, setFollowing] = useState(false);
  const query = useQuery({
    ...screenQuery(device.device_id),
    enabled: isReady(device),
    refetchInterval: isFollowing ? followMs : false,
  });
  const { data, error } = query;
  if (data === undefined) {
    if (!isReady(device)) return <Empty title="No screen to show">{device.reason}</Empty>;
    return error === null ? <Loading /> : <Failure error={error} onRetry={() => void query.refetch()} />;
  }
  const isStale = !isFollowing && (!isReady(device) || Date.now() - data.readAt > staleMs * 15);
  return (
    <Inspector
      tree={data.tree}
      picture={data.picture}
      width={data.width}
      height={data.height}
      isStale={isStale || error !== null}
      pictureNote="The app in front allows no pictures, or the screen is off. The tree is there all the same."
      pictureHead={
        <>
          <span>
            <Age since={data.readAt} /> old
          </span>
          <label className={`${styles['follow']} ${styles['space']}`}>
            <input
              type="checkbox"
              checked={isFollowing}
              onChange={({ target }) => setFollowing(target.checked)}
            />
            Follow
          </label>
          <Button isBusy={query.isFetching && !isFollowing} onClick={() => void query.refetch()}>
            Refresh
          </Button>
        </>
      }
    />
  );
}

const About = ({ device }: { device: Device }) => (
  <dl className={styles['facts']}>
    <dt>State</dt>
    <dd>
      <DeviceStateMark state={device.state} /> since <Moment at={device.since} />
    </dd>
    <dt>Reason</dt>
    <dd>{device.reason}</dd>
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
                <span>direct code of {run.user.name}</span>
              ) : (
                <Link to="/runs/$runId" params={{ runId: run.run_id }}>
                  run of {run.user.name}
                </Link>
              )}
            </div>
          ))}
    </dd>
    <dt>Serial</dt>
    <dd>
      <code>{device.serial}</code>
    </dd>
    <dt>Device ID</dt>
    <dd>
      <code>{device.device_id}</code> <CopyButton text={device.device_id} label="Copy the device ID" />
    </dd>
    <dt>Android</dt>
    <dd>
      {device.android_version === ''
        ? 'not known'
        : `${device.android_version}, API level ${device.sdk_version}`}
    </dd>
    <dt>Screen</dt>
    <dd>
      {device.screen_width} × {device.screen_height}
    </dd>
    <dt>Host</dt>
    <dd>
      {device.host === null
        ? 'none'
        : `${device.host.name}${device.host.connected ? '' : ' (not connected)'}`}
    </dd>
    <dt>Owner</dt>
    <dd>{device.owner.name}</dd>
    <dt>Your part</dt>
    <dd>{device.role}</dd>
  </dl>
);
