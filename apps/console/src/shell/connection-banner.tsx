import { useEffect, useState } from 'react';

import { liveEvents } from '../api/live-events.ts';
import { useStore } from '../api/store.ts';
import styles from './shell.module.css';

/** A restart of the service shorter than this is nobody's concern. */
const patienceMs = 1500;

export function ConnectionBanner() {
  const isLost = useStore(liveEvents.state) === 'reconnecting';
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    if (!isLost) {
      setShown(false);
      return undefined;
    }
    const timer = setTimeout(() => setShown(true), patienceMs);
    return () => clearTimeout(timer);
  }, [isLost]);
  if (!isShown) return null;
  return (
    <div className={styles['banner']} role="status">
      The connection to the service is lost; trying again. What is shown may be old, and what you have typed
      stays here.
    </div>
  );
}
