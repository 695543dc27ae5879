import type { Stat } from '@phalanx/protocol';
import { useEffect, useState } from 'react';

import styles from './day-chart.module.css';

const [top, base, foot] = [12, 140, 6];
/** Width reserved for the labels of the scale. */
const left = 40;

const succeededOf = ({ outcomes }: Stat): number =>
  outcomes.find(({ outcome }) => outcome === 'succeeded')?.runs ?? 0;

function useWidth(element: Element | null): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, [element]);
  return width;
}

/** Returns the end of a scale with an integer midpoint: 2, 4, 10, 20, 40, 100 … */
export function scaleEnd(max: number): number {
  for (let unit = 1; ; unit *= 10) for (const step of [2, 4, 10]) if (step * unit >= max) return step * unit;
}

/**
 * Chart of runs by day. Succeeded runs are filled, the others are hatched above them. The table by day contains the
 * same numbers.
 */
export function DayChart({ days }: { days: readonly Stat[] }) {
  const [figure, setFigure] = useState<HTMLElement | null>(null);
  const width = useWidth(figure);
  const max = Math.max(1, ...days.map(({ runs }) => runs));
  const end = scaleEnd(max);
  const step = Math.max(0, width - left) / Math.max(1, days.length);
  const barWidth = Math.max(1, Math.min(36, step * 0.75));
  const scale = (base - top) / end;
  const succeeded = days.reduce((sum, day) => sum + succeededOf(day), 0);
  const runs = days.reduce((sum, day) => sum + day.runs, 0);
  return (
    <figure ref={setFigure} className={styles['figure']}>
      <svg
        width={width}
        height={base + foot}
        role="img"
        aria-label={`Runs by day: ${runs} runs, ${succeeded} of them succeeded; at most ${max} a day`}
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
        {[0, end / 2, end].map((value) => {
          const y = base - value * scale + 0.5;
          return (
            <g key={value}>
              <line
                x1={left}
                x2={width}
                y1={y}
                y2={y}
                className={value === 0 ? styles['axis'] : styles['line']}
              />
              <text x={left - 8} y={y + 4} className={styles['number']}>
                {value.toLocaleString('en')}
              </text>
            </g>
          );
        })}
        {days.map((day, index) => {
          const good = succeededOf(day) * scale;
          const bad = day.runs * scale - good;
          const x = left + index * step + (step - barWidth) / 2;
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
