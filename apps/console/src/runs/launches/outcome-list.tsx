import { Link } from '@tanstack/react-router';
import type { Device, DeviceOutcome } from '@phalanx/protocol';

import { deviceName } from '../../fleet/devices/device.tsx';
import { Mark, type MarkLook } from '../../parts/mark.tsx';
import styles from './outcome-list.module.css';

const looks: Record<OutcomeRow['outcome'], MarkLook> = {
  waiting: { tone: 'waiting', glyph: '◌', word: 'waiting' },
  started: { tone: 'ready', glyph: '▶', word: 'started' },
  stopped: { tone: 'ready', glyph: '■', word: 'stopped' },
  nothing_to_stop: { tone: 'offline', glyph: '–', word: 'nothing ran' },
  refused: { tone: 'broken', glyph: '✕', word: 'refused' },
  not_acknowledged: { tone: 'act', glyph: '▲', word: 'no answer' },
  'not tried': { tone: 'offline', glyph: '–', word: 'not started' },
};

/** Counts the outcomes. Announced to screen readers once all phones have replied, not for each of a thousand. */
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

/** List with one row per device, updated as replies arrive. */
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

/** Known outcome of a launch or a stop on one device. */
export interface OutcomeRow {
  readonly device: Device;
  readonly outcome: DeviceOutcome['outcome'] | 'waiting' | 'not tried';
  readonly reason: string | null;
  readonly runId: string | null;
}

export const waitingRows = (devices: readonly Device[]): OutcomeRow[] =>
  devices.map((device) => ({ device, outcome: 'waiting', reason: null, runId: null }));

/**
 * Merges the results of a reply into the rows. Devices missing from the reply were not tried, for the reply's reason.
 */
export function withOutcomes(
  rows: readonly OutcomeRow[],
  outcomes: readonly DeviceOutcome[],
  failure?: string,
): OutcomeRow[] {
  const byId = new Map(outcomes.map((outcome) => [outcome.device_id, outcome]));
  return rows.map((row) => {
    const found = byId.get(row.device.device_id);
    if (found !== undefined)
      return { ...row, outcome: found.outcome, reason: found.reason, runId: found.run_id ?? row.runId };
    if (row.outcome !== 'waiting' || failure === undefined) return row;
    return { ...row, outcome: 'not tried', reason: failure };
  });
}
