import { ServiceError } from '@phalanx/client/service-errors';
import type { Device } from '@phalanx/protocol';
import { useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useState, useMemo } from 'react';

import { liveEvents } from '../api/live-events.ts';
import { meQuery } from '../api/me.ts';
import { session } from '../api/call.ts';
import { useStore } from '../api/store.ts';
import { classNames } from '../parts/class-names.ts';
import { Icon, type IconName } from '../parts/icon.tsx';
import { useKeys, KeyboardHelp } from '../parts/keys.tsx';
import { Notices } from '../parts/notices.tsx';
import { Failure, Loading } from '../parts/states.tsx';
import { Logo, SignInAgain, SignInPage } from '../http/access/sign-in.tsx';
import styles from './shell.module.css';
import { deviceName, devicesQuery } from '../fleet/devices/device.tsx';
import { Picker, type PickerItem } from '../parts/picker.tsx';
import { projectsQuery } from '../code/projects/project.tsx';
import { setTheme } from '../styles/theme.ts';
import { UserMenu } from './user-menu.tsx';

/** Time during which changes are collected before the page is rendered again, in ms. */
const gatherMs = 100;

/** Minimum outage before the user is notified, in ms. A restart of the service is usually shorter. */
const noticeAfterMs = 1500;

interface Place {
  readonly to: string;
  readonly label: string;
  readonly icon: IconName;
  readonly key: string;
  /** Addresses of pages that belong to this place but lie elsewhere. */
  readonly also?: readonly string[];
}

const places: readonly Place[] = [
  { to: '/devices', label: 'Fleet', icon: 'fleet', key: 'f' },
  { to: '/projects', label: 'Projects', icon: 'projects', key: 'p' },
  { to: '/runs', label: 'Runs', icon: 'runs', key: 'r', also: ['/stats'] },
  { to: '/jobs', label: 'Jobs', icon: 'jobs', key: 'j' },
  { to: '/groups', label: 'Review', icon: 'records', key: 'v', also: ['/records'] },
  { to: '/settings', label: 'Settings', icon: 'settings', key: 's' },
];
const help: Place = { to: '/help', label: 'Help', icon: 'file', key: 'h', also: ['/start'] };

const pillWords = { connecting: 'Starting', live: 'Live', reconnecting: 'Offline' } as const;

/** Frame around every page. Without a sign-in, only the sign-in form is shown. */
export function Shell() {
  const me = useQuery(meQuery);
  const state = useStore(session.store);
  if (me.data === undefined) {
    if (me.error instanceof ServiceError && me.error.status === 401) return <SignInPage />;
    if (me.error !== null)
      return (
        <main>
          <Failure error={me.error} onRetry={() => void me.refetch()} />
        </main>
      );
    return (
      <main>
        <Loading />
      </main>
    );
  }
  return (
    <>
      <SignedIn />
      {state === 'signed out' && <SignInAgain />}
    </>
  );
}

type Overlay = 'palette' | 'help' | undefined;

function SignedIn() {
  const queries = useQueryClient();
  const [overlay, setOverlay] = useState<Overlay>();
  useEffect(() => {
    const stopFollowing = followChanges(queries);
    const stop = liveEvents.start();
    return () => {
      stop();
      stopFollowing();
    };
  }, [queries]);
  useGlobalKeys(setOverlay);
  return (
    <div className={styles['shell']}>
      <a className={styles['skip']} href="#main">
        Skip to the page
      </a>
      <Rail onSearch={() => setOverlay('palette')} onHelp={() => setOverlay('help')} />
      <main id="main" className={styles['main']}>
        <ConnectionBanner />
        <div className={styles['outlet']}>
          <Outlet />
        </div>
        <div id="popups" />
        {overlay === 'palette' && <CommandPalette onClose={() => setOverlay(undefined)} />}
        {overlay === 'help' && <KeyboardHelp onClose={() => setOverlay(undefined)} />}
        <Notices />
      </main>
    </div>
  );
}

function useGlobalKeys(open: (overlay: Overlay) => void): void {
  const navigate = useNavigate();
  const [isGoing, setGoing] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      open('palette');
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [open]);
  useEffect(() => {
    if (!isGoing) return undefined;
    const timer = setTimeout(() => setGoing(false), 1500);
    return () => clearTimeout(timer);
  }, [isGoing]);
  const goTo = (to: string) => (): void => {
    if (isGoing) void navigate({ to });
    setGoing(false);
  };
  const going = Object.fromEntries([...places, help].map(({ key, to }) => [key, goTo(to)]));
  useKeys({
    ...(isGoing ? going : {}),
    g: () => setGoing(true),
    '?': () => open('help'),
    '/': () => document.querySelector<HTMLInputElement>('[data-filter]')?.focus(),
  });
}

interface RailProps {
  onSearch: () => void;
  onHelp: () => void;
}

function Rail({ onSearch, onHelp }: RailProps) {
  const connection = useStore(liveEvents.state);
  return (
    <nav className={styles['rail']} aria-label="Pages">
      <Link to="/devices" className={styles['mark']} aria-label="Phalanx: fleet" title="Fleet">
        <Logo />
      </Link>
      {places.map((place) => (
        <PlaceLink key={place.to} place={place} />
      ))}
      <div className={styles['space']} />
      <PlaceLink place={help} />
      <button type="button" className={styles['item']} onClick={onSearch} title="Ctrl+K">
        <Icon name="search" />
        Find
      </button>
      <button type="button" className={`${styles['item']} ${styles['wideOnly']}`} onClick={onHelp} title="?">
        <Icon name="help" />
        Keys
      </button>
      <div className={styles['pill']} data-state={connection} role="status">
        <span className={styles['dot']} aria-hidden="true" />
        {pillWords[connection]}
      </div>
      <UserMenu itemClass={styles['item']} onKeys={onHelp} />
    </nav>
  );
}

/** Whether the link to a place moves into the user menu on narrow pages. */
const isInUserMenu = ({ to }: Place): boolean => to === '/settings' || to === '/help';

function PlaceLink({ place }: { place: Place }) {
  const { pathname } = useLocation();
  const { to, label, icon, also = [] } = place;
  const isHere = [to, ...also].some((path) => pathname === path || pathname.startsWith(`${path}/`));
  return (
    <Link
      to={to}
      className={classNames(styles['item'], isInUserMenu(place) && styles['wideOnly'])}
      {...(isHere && { 'aria-current': 'page' })}
    >
      <Icon name={icon} />
      {label}
    </Link>
  );
}

function ConnectionBanner() {
  const isLost = useStore(liveEvents.state) === 'reconnecting';
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    if (!isLost) {
      setShown(false);
      return undefined;
    }
    const timer = setTimeout(() => setShown(true), noticeAfterMs);
    return () => clearTimeout(timer);
  }, [isLost]);
  if (!isShown) return null;
  return (
    <div className={styles['banner']} role="status">
      The connection to the service is lost. Trying again… The page may be outdated. Your input is kept.
    </div>
  );
}

/** Updates cached data from the service's events. Returns the function that stops it. */
function followChanges(queries: QueryClient): () => void {
  const devices = new Map<string, Device>();
  const stale = new Set<string>();
  let timer: number | undefined;

  const flush = (): void => {
    timer = undefined;
    patchDevices(queries, devices);
    devices.clear();
    for (const name of stale) void queries.invalidateQueries({ queryKey: [name] });
    stale.clear();
  };
  const soon = (): void => {
    timer ??= window.setTimeout(flush, gatherMs);
  };
  const ends = [
    liveEvents.on('device', ({ device }) => {
      devices.set(device.device_id, device);
      soon();
    }),
    liveEvents.on('run', ({ run }) => {
      stale.add('runs');
      void queries.invalidateQueries({ queryKey: ['run', run.run_id] });
      soon();
    }),
    liveEvents.on('record', ({ record }) => {
      stale.add('records');
      // The page of a run shows its records and the last screen of the newest one.
      void queries.invalidateQueries({ queryKey: ['run', record.run_id] });
      soon();
    }),
    liveEvents.on('group', () => {
      stale.add('groups');
      soon();
    }),
    liveEvents.on('replay', ({ replay }) => {
      stale.add('replays');
      // Groups show the verdict of the latest replay.
      if (replay.ended_at !== null) stale.add('groups');
      soon();
    }),
    liveEvents.onReset(() => void queries.invalidateQueries()),
  ];
  return () => {
    window.clearTimeout(timer);
    for (const end of ends) end();
  };
}

function patchDevices(queries: QueryClient, changed: ReadonlyMap<string, Device>): void {
  if (changed.size === 0) return;
  queries.setQueryData<Device[]>(['devices'], (known) => {
    if (known === undefined) return known;
    const ids = new Set(known.map((device) => device.device_id));
    const added = [...changed.values()].filter((device) => !ids.has(device.device_id));
    return [...known.map((device) => changed.get(device.device_id) ?? device), ...added];
  });
}

function useCommands(): readonly PickerItem[] {
  const navigate = useNavigate();
  const { data: devices = [] } = useQuery(devicesQuery);
  const { data: projects = [] } = useQuery(projectsQuery);
  return useMemo(() => {
    const page = (label: string, note: string, icon: IconName, to: string): PickerItem => ({
      id: to,
      label,
      note,
      icon,
      run: () => void navigate({ to }),
    });
    const theme = (name: 'light' | 'dark' | 'system', label: string): PickerItem => ({
      id: name,
      label,
      note: 'Theme',
      icon: 'sun',
      run: () => setTheme(name),
    });
    return [
      page('Fleet', 'g f', 'fleet', '/devices'),
      page('Projects', 'g p', 'projects', '/projects'),
      page('Runs', 'g r', 'runs', '/runs'),
      page('Jobs', 'g j', 'jobs', '/jobs'),
      page('Review', 'g v', 'records', '/groups'),
      page('Records', 'Review', 'records', '/records'),
      page('Settings', 'g s', 'settings', '/settings'),
      page('Statistics', 'Page', 'runs', '/stats'),
      page('Tokens', 'Settings', 'settings', '/settings/tokens'),
      page('Hosts', 'Settings', 'settings', '/settings/hosts'),
      page('Webhooks', 'Settings', 'settings', '/settings/webhooks'),
      page('Usage', 'Settings', 'settings', '/settings/usage'),
      page('Audit log', 'Settings', 'settings', '/settings/audit'),
      page('Help', 'g h', 'help', '/help'),
      page('First steps', 'Page', 'help', '/start'),
      theme('light', 'Light theme'),
      theme('dark', 'Dark theme'),
      theme('system', 'Theme of the system'),
      ...projects.map(({ id, name }) => page(name, 'Project', 'projects', `/projects/${id}`)),
      ...devices.map((device) =>
        page(
          `${deviceName(device)} · ${device.serial}`,
          device.state,
          'fleet',
          `/devices/${device.device_id}`,
        ),
      ),
    ];
  }, [navigate, devices, projects]);
}

/** Command palette (Ctrl+K): finds everything that has a name. */
function CommandPalette({ onClose }: { onClose: () => void }) {
  const commands = useCommands();
  const find = (text: string): readonly PickerItem[] => {
    const words = text.toLowerCase().split(/\s+/);
    return commands.filter(({ label, note }) =>
      words.every((word) => `${label} ${note}`.toLowerCase().includes(word)),
    );
  };
  return <Picker label="Find a page, phone or project" name="Find" find={find} onClose={onClose} />;
}
