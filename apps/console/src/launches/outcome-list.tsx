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

/** How many are how far. Told when all have answered, not for each of a thousand. */
function Summary({ rows }: { rows: readonly OutcomeRow[] }) {
  const counts = new Map<OutcomeRow['outcome'], number>();
  for (const { outcome } of rows) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  const text = [...counts].map(([outcome, count]) => `${count} ${looks[outcome].word}`).join(', ');
  return (
    <p className={styles['summary']} role="status" aria-busy={counts.has('waiting')}>
      {text}
    </p>
  );
}

/** A row for each device, filled in as it answers. */
export const OutcomeList = ({ rows }: { rows: readonly OutcomeRow[] }) => (
  <>
    {rows.length > 1 && <Summary rows={rows} />}
    {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls */}
    <div
      className={styles['list']}
      tabIndex={0}
      role="region"
      aria-label="Outcome on each phone"
      aria-live={rows.length > 1 ? 'off' : 'polite'}
    >
      {rows.map(({ device, outcome, reason, runId }) => (
        <div key={device.device_id} className={styles['row']}>
          <b>{rows.length > 1 ? `${deviceName(device)} · ${device.serial}` : deviceName(device)}</b>
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
  </>
);
