import { Tabs } from '@base-ui/react/tabs';
import type { Device, Labels } from '@phalanx/protocol';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { call } from '../../api/call.ts';
import { useMissingScope } from '../../api/me.ts';
import { LaunchDialog } from '../../runs/launches/launch-dialog.tsx';
import { StopDialog } from '../../runs/launches/stop-dialog.tsx';
import { Control } from '../../control/live/control.tsx';
import { Button, buttonClass } from '../../parts/button.tsx';
import { ActionDialog } from '../../parts/dialog.tsx';
import { Field, TextArea, TextField } from '../../parts/field.tsx';
import { notify } from '../../parts/notices.tsx';
import { Page } from '../../parts/page.tsx';
import { RemovalButton } from '../../parts/removal-button.tsx';
import { Empty, Failure, InlineFailure, Loading } from '../../parts/states.tsx';
import { Age } from '../../parts/time.tsx';
import { RunList } from '../../runs/runs/run-list.tsx';
import { Inspector } from '../screens/inspector.tsx';
import { screenQuery } from '../screens/screen-tree.ts';
import { DeviceAbout } from './device-about.tsx';
import { deviceName, DeviceStateMark, isReady, reasonShown, devicesQuery } from './device.tsx';
import styles from './device-page.module.css';
import { deviceSearch } from './fleet-search.ts';
import { ShareDevice } from './share-phones.tsx';

const route = getRouteApi('/devices/$deviceId');
const tabs = { screen: 'Inspect', control: 'Control', runs: 'Runs', about: 'About' } as const;

export function DevicePage() {
  const { deviceId } = route.useParams();
  const { data: all, error, refetch } = useQuery(devicesQuery);
  const device = all?.find((one) => one.device_id === deviceId);
  if (device !== undefined) return <Shown key={deviceId} device={device} />;
  return (
    <Page title="Phone">
      {all !== undefined ? (
        <Empty title="Phone not found" action={<Link to="/devices">Go to the fleet</Link>}>
          It was removed, or it is no longer shared with you.
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
  const { tab = 'screen' } = route.useSearch();
  const navigate = route.useNavigate();
  const open = (value: unknown): void =>
    void navigate({ search: deviceSearch({ tab: value }), replace: true });
  return (
    <Tabs.Root className={styles['page']} value={tab} onValueChange={open}>
      <Page
        title={deviceName(device)}
        parents={[{ label: 'Fleet', link: { to: '/devices' } }]}
        aside={
          <span>
            {device.serial} · <DeviceStateMark state={device.state} /> <Age since={device.since} />
          </span>
        }
        actions={<Actions device={device} />}
        bar={
          <>
            <Tabs.List className={styles['tabs']} aria-label="Parts of the page">
              {Object.entries(tabs).map(([value, label]) => (
                <Tabs.Tab key={value} value={value} className={styles['tab']}>
                  {label}
                </Tabs.Tab>
              ))}
            </Tabs.List>
            <span className={styles['reason']}>{reasonShown(device)}</span>
          </>
        }
      >
        <Tabs.Panel value="screen" className={styles['panel']}>
          <Screen device={device} />
        </Tabs.Panel>
        <Tabs.Panel value="control" className={styles['panel']}>
          <Control device={device} />
        </Tabs.Panel>
        <Tabs.Panel value="runs" className={styles['panel']}>
          <RunList
            search={{ device: device.device_id }}
            empty={<Empty title="No runs on this phone yet" />}
          />
        </Tabs.Panel>
        <Tabs.Panel value="about" className={styles['panel']}>
          <DeviceAbout device={device} />
        </Tabs.Panel>
      </Page>
    </Tabs.Root>
  );
}

function Actions({ device }: { device: Device }) {
  const [open, setOpen] = useState<'launch' | 'stop' | 'share' | 'name'>();
  const missing = useMissingScope('launch');
  const notYours =
    device.role === 'view' ? `${device.owner.name} shared this phone with you as view-only.` : undefined;
  const close = (): void => setOpen(undefined);
  return (
    <>
      <Link
        className={buttonClass('quiet')}
        to="/records"
        search={{ device: device.device_id, status: 'any' }}
      >
        Records
      </Link>
      {device.role === 'owner' && (
        <Button look="quiet" onClick={() => setOpen('name')}>
          Name and labels
        </Button>
      )}
      <Button look="quiet" onClick={() => setOpen('share')}>
        Share
      </Button>
      {device.role === 'owner' && device.state === 'offline' && <RemovePhone device={device} />}
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
      {open === 'name' && <NamePhone device={device} onClose={close} />}
      {open === 'share' && <ShareDevice device={device} onClose={close} />}
    </>
  );
}

function RemovePhone({ device }: { device: Device }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const missing = useMissingScope('admin');
  const remove = async (): Promise<void> => {
    await call('DELETE /api/v2/devices/:id', { params: { id: device.device_id } });
    notify(`${deviceName(device)} was removed`);
    await client.invalidateQueries({ queryKey: devicesQuery.queryKey });
    await navigate({ to: '/devices' });
  };
  return (
    <RemovalButton action="Remove" name={deviceName(device)} reason={missing} onRemove={remove}>
      <p>
        Its name, labels, history and shares are deleted. Its runs and records stay. If it is connected again,
        it appears as a new phone.
      </p>
    </RemovalButton>
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
      pictureNote={`${data.pictureReason} The tree is still available.`}
      pictureHead={
        <>
          <span>
            <Age since={data.readAt} /> old
          </span>
          {data.pictureRemark !== undefined && <span>{data.pictureRemark}</span>}
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

/** Dialog for the name and the labels of a phone. */
function NamePhone({ device, onClose }: { device: Device; onClose: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState(device.name);
  const [text, setText] = useState(() => linesOf(device.labels));
  const [error, setError] = useState<unknown>(null);
  const { labels, problem } = readLines(text);
  const save = async (): Promise<void> => {
    const params = { id: device.device_id };
    try {
      if (name !== device.name) await call('PATCH /api/v2/devices/:id', { params, body: { name } });
      if (text !== linesOf(device.labels))
        await call('PUT /api/v2/devices/:id/labels', { params, body: { labels } });
      await client.invalidateQueries({ queryKey: devicesQuery.queryKey });
      onClose();
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <ActionDialog
      title={`Name and labels of ${device.serial}`}
      action="Save"
      reason={problem}
      onAct={save}
      onClose={onClose}
    >
      <TextField label="Name" hint="Empty: maker and model" value={name} onChange={setName} />
      <Field label="Labels" hint="One per line, such as country=de" problem={problem}>
        {(attributes) => (
          <TextArea {...attributes} rows={5} value={text} onChange={({ target }) => setText(target.value)} />
        )}
      </Field>
      {error !== null && <InlineFailure error={error} />}
    </ActionDialog>
  );
}

const linesOf = (labels: Labels): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join('\n');

function readLines(text: string): { labels: Labels; problem: string | undefined } {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  const bad = lines.find((line) => !line.includes('='));
  const labels = Object.fromEntries(
    lines.map((line) => [line.split('=', 1)[0]?.trim() ?? '', line.slice(line.indexOf('=') + 1).trim()]),
  );
  return { labels, problem: bad === undefined ? undefined : `"${bad}" is not key=value.` };
}
