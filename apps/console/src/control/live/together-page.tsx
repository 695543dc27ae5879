import type { Device } from '@phalanx/protocol';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';

import { useMissingScope } from '../../api/me.ts';
import { distinctName, devicesQuery } from '../../fleet/devices/device.tsx';
import { Button } from '../../parts/button.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { Keys } from './control.tsx';
import styles from './live.module.css';
import { TouchScreen } from './touch-screen.tsx';
import { useLivePicture } from './use-live-picture.ts';
import { type Member, useTogether } from './use-together.ts';
import { useTouch } from './use-touch.ts';
import { WallPicture } from './wall-picture.tsx';

const route = getRouteApi('/devices/together');

/** Controls several phones together. */
export function TogetherPage() {
  const { phones = '' } = route.useSearch();
  const { data: all, error, refetch } = useQuery(devicesQuery);
  const ids = useMemo(() => phones.split(',').filter(Boolean), [phones]);
  const devices = ids.flatMap((id) => all?.find((one) => one.device_id === id) ?? []);
  const [first] = devices;
  return (
    <Page
      title="Control together"
      parents={[{ label: 'Fleet', link: { to: '/devices' } }]}
      aside={all !== undefined && <span>{countText(devices.length)}</span>}
    >
      {first !== undefined ? (
        <Together key={phones} first={first} devices={devices} />
      ) : all !== undefined ? (
        <Empty title="No phones selected" action={<Link to="/devices">Go to the fleet</Link>}>
          Select phones in the fleet, then choose “Control together”.
        </Empty>
      ) : error === null ? (
        <Loading />
      ) : (
        <Failure error={error} onRetry={() => void refetch()} />
      )}
    </Page>
  );
}

const countText = (count: number): string => (count === 1 ? 'one phone' : `${count} phones`);

function Together({ first, devices }: { first: Device; devices: readonly Device[] }) {
  const together = useTogether(devices);
  const leader = together.active[0]?.device ?? first;
  const picture = useLivePicture(leader.device_id);
  const touches = useTouch(leader.device_id, together.touch);
  const isOn = together.isHeld && together.active.length > 0;
  return (
    <div className={styles['control']}>
      <section className={styles['live']} aria-label="Live view">
        <TouchScreen picture={picture} touches={isOn ? touches : undefined} />
      </section>
      <section className={styles['side']} aria-label="Control">
        <Hold together={together} devices={devices} />
        <Keys touches={touches} screen={picture} reason={isOn ? undefined : 'Take control first.'} />
        <p role="status" className={styles['quiet']}>
          {together.isHeld && summaryOf(together.members)}
        </p>
        <ul className={styles['members']} aria-label="Phones">
          {devices.map((device) => (
            <MemberRow
              key={device.device_id}
              device={device}
              name={distinctName(device, devices)}
              member={together.members.find((one) => one.device.device_id === device.device_id)}
              isLeader={isOn && device.device_id === leader.device_id}
              include={together.isHeld ? together.include : undefined}
            />
          ))}
        </ul>
      </section>
    </div>
  );
}

interface HoldProps {
  together: ReturnType<typeof useTogether>;
  devices: readonly Device[];
}

function Hold({ together, devices }: HoldProps) {
  const missing = useMissingScope('launch');
  const { isHeld, isBusy, problem } = together;
  return (
    <div className={styles['hold']}>
      {isHeld ? (
        <Button onClick={() => void together.end()}>End control</Button>
      ) : (
        <Button look="primary" isBusy={isBusy} reason={missing} onClick={() => void together.begin()}>
          Take control of {countText(devices.length)}
        </Button>
      )}
      <p role="status">
        {isHeld
          ? 'Your input on the first phone is repeated on all. Control ends after five minutes without input.'
          : 'Phones with the same screen size and the same app in front as the first one take part.'}
      </p>
      {problem !== undefined && (
        <div role="alert" className={styles['problem']}>
          <p>No phone was taken, because some are in use.</p>
          {problem.split('\n').map((line) => (
            <p key={line}>{line}</p>
          ))}
        </div>
      )}
    </div>
  );
}

/** Summary such as `Done on 2 phones, failed on Pixel 8.` */
function summaryOf(members: readonly Member[]): string {
  const done = members.filter(({ state }) => state === 'done').length;
  if (members.some(({ state }) => state === 'working')) return 'Working…';
  const failed = members.filter(({ state }) => state === 'failed').map(({ name }) => name);
  const parts = [
    ...(done > 0 ? [`done on ${countText(done)}`] : []),
    ...(failed.length > 0 ? [`failed on ${failed.join(', ')}`] : []),
  ];
  const text = parts.join(', ');
  return text === '' ? '' : `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}

const words: Record<Member['state'], string> = {
  waiting: 'takes part',
  working: 'working…',
  done: 'done',
  failed: 'failed',
  out: 'left out',
};

interface MemberRowProps {
  device: Device;
  name: string;
  member: Member | undefined;
  isLeader: boolean;
  include: ((id: string) => void) | undefined;
}

function MemberRow({ device, name, member, isLeader, include }: MemberRowProps) {
  return (
    <li className={styles['member']} data-state={member?.state}>
      <div className={styles['memberPicture']}>
        <WallPicture device={device} />
      </div>
      <div>
        <b>{name}</b>
        {member !== undefined && (
          <p>
            {isLeader ? 'first phone, ' : ''}
            {words[member.state]}
            {member.reason !== undefined && `: ${member.reason}`}
          </p>
        )}
        {member?.state === 'failed' && include !== undefined && (
          <Button look="quiet" onClick={() => include(device.device_id)}>
            Include {name} again
          </Button>
        )}
      </div>
    </li>
  );
}
