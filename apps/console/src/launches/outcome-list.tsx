import { Link } from '@tanstack/react-router';

import { deviceName } from '../devices/device-name.ts';
import { Mark, type MarkLook } from '../parts/mark.tsx';
import styles from './outcome-list.module.css';
import type { OutcomeRow } from './outcomes.ts';

const looks: Record<OutcomeRow['outcome'], MarkLook> = {
  waiting: { tone: 'waiting', glyph: '◌', word: 'waiting' },
  started: { tone: 'ready', glyph: '▶', word: 'started' },
  stopped: { tone: 'ready', glyph: '■', word: 'stopped' },
  nothing_to_stop: { tone: 'offline', glyph: '–', word: 'nothing ran' },
  refused: { tone: 'broken', glyph: '✕', word: 'refused' },
  not_acknowledged: { tone: 'act', glyph: '▲', word: 'no answer' },
  'not tried': { tone: 'offline', glyph: '–', word: 'not started' },
};

/** A row for each device, filled in as it answers. */
export const OutcomeList = ({ rows }: { rows: readonly OutcomeRow[] }) => (
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
  <div
    className={styles['list']}
    tabIndex={0}
    role="region"
    aria-label="Outcome on each phone"
    aria-live="polite"
  >
    {rows.map(({ device, outcome, reason, runId }) => (
      <div key={device.device_id} className={styles['row']}>
        <b>{deviceName(device)}</b>
        <Mark {...looks[outcome]} />
        {runId === null ? (
          <span />
        ) : (
          <Link to="/runs/$runId" params={{ runId }}>
            Open run
          </Link>
        )}
        {reason !== null && <p className={styles['reason']}>{reason}</p>}
      </div>
    ))}
  </div>
);
