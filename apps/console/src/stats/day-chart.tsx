import type { Stat } from '@phalanx/protocol';

import styles from './day-chart.module.css';

const [width, base] = [720, 120];

const succeededOf = ({ outcomes }: Stat): number =>
  outcomes.find(({ outcome }) => outcome === 'succeeded')?.runs ?? 0;

/** Runs by day: those that succeeded are filled, the others above them hatched. The table by day says the same in numbers. */
export function DayChart({ days }: { days: readonly Stat[] }) {
  const most = Math.max(1, ...days.map(({ runs }) => runs));
  const step = width / Math.max(1, days.length);
  const barWidth = Math.max(1, Math.min(28, step * 0.75));
  const scale = base / most;
  const succeeded = days.reduce((sum, day) => sum + succeededOf(day), 0);
  const runs = days.reduce((sum, day) => sum + day.runs, 0);
  return (
    <figure className={styles['figure']}>
      <div className={styles['ends']}>{most}</div>
      <svg
        viewBox={`0 0 ${width} ${base + 1}`}
        role="img"
        aria-label={`Runs by day: ${runs} runs, ${succeeded} of them succeeded; at most ${most} a day`}
      >
        <defs>
          <pattern
            id="not-succeeded"
            width="5"
            height="5"
            patternUnits="userSpaceOnUse"
            patternTransform="rotate(45)"
          >
            <rect width="2" height="5" className={styles['hatch']} />
          </pattern>
        </defs>
        <line x1="0" x2={width} y1={base + 0.5} y2={base + 0.5} className={styles['axis']} />
        {days.map((day, index) => {
          const good = succeededOf(day) * scale;
          const bad = day.runs * scale - good;
          const x = index * step + (step - barWidth) / 2;
          return (
            <g key={day.key}>
              <title>{`${day.key}: ${day.runs} runs, ${succeededOf(day)} succeeded`}</title>
              <rect x={x} y={base - good} width={barWidth} height={good} className={styles['succeeded']} />
              {bad > 0 && (
                <rect
                  x={x}
                  y={base - good - bad}
                  width={barWidth}
                  height={bad}
                  fill="url(#not-succeeded)"
                  className={styles['failed']}
                />
              )}
            </g>
          );
        })}
      </svg>
      <div className={styles['ends']}>
        <span>{days[0]?.key}</span>
        <span>{days.at(-1)?.key}</span>
      </div>
      <figcaption>
        <span className={styles['key']} data-kind="succeeded" aria-hidden="true" /> succeeded
        <span className={styles['key']} data-kind="failed" aria-hidden="true" /> all others
      </figcaption>
    </figure>
  );
}
