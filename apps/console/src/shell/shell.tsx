import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';

import { ApiFailure } from '../api/api-failure.ts';
import { liveEvents } from '../api/live-events.ts';
import { meQuery } from '../api/me.ts';
import { session } from '../api/session.ts';
import { useStore } from '../api/store.ts';
import { Icon, type IconName } from '../parts/icon.tsx';
import { useKeys } from '../parts/keys.ts';
import { Notices } from '../parts/notices.tsx';
import { Failure, Loading } from '../parts/states.tsx';
import { CommandPalette } from './command-palette.tsx';
import { ConnectionBanner } from './connection-banner.tsx';
import { KeyboardHelp } from './keyboard-help.tsx';
import { followChanges } from './follow-changes.ts';
import { Logo } from './logo.tsx';
import styles from './shell.module.css';
import { SignInAgain, SignInPage } from './sign-in.tsx';

const places: readonly { to: string; label: string; icon: IconName; key: string }[] = [
  { to: '/devices', label: 'Fleet', icon: 'fleet', key: 'f' },
  { to: '/projects', label: 'Projects', icon: 'projects', key: 'p' },
  { to: '/runs', label: 'Runs', icon: 'runs', key: 'r' },
  { to: '/records', label: 'Review', icon: 'records', key: 'v' },
  { to: '/settings', label: 'Settings', icon: 'settings', key: 's' },
];

const pillWords = { connecting: 'Starting', live: 'Live', reconnecting: 'Offline' } as const;

/** What stands around every page; without a sign-in there is only that. */
export function Shell() {
  const me = useQuery(meQuery);
  const state = useStore(session.store);
  if (me.data === undefined) {
    if (me.error instanceof ApiFailure && me.error.status === 401) return <SignInPage />;
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
  const going = Object.fromEntries(places.map(({ key, to }) => [key, goTo(to)]));
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
      <Link to="/start" className={styles['mark']} aria-label="Phalanx: first steps" title="First steps">
        <Logo />
      </Link>
      {places.map(({ to, label, icon }) => (
        <Link key={to} to={to} className={styles['item']}>
          <Icon name={icon} />
          {label}
        </Link>
      ))}
      <div className={styles['space']} />
      <button
        type="button"
        className={`${styles['item']} ${styles['wideOnly']}`}
        onClick={onSearch}
        title="Ctrl+K"
      >
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
    </nav>
  );
}
