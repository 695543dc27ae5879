import { describeCall, type RecordedCall } from '@phalanx/protocol';

import styles from './review.module.css';

/** What was done on a screen before the next one, as a list that all can read. */
export const Actions = ({ actions }: { actions: readonly RecordedCall[] }) => (
  <div className={styles['actions']}>
    <span id="actions-of-screen">Done on this screen</span>
    <ol aria-labelledby="actions-of-screen">
      {actions.map((call, index) => (
        <li key={index}>
          <b>{index + 1}</b> {describeCall(call)}
        </li>
      ))}
    </ol>
  </div>
);

interface ActionMarksProps {
  actions: readonly RecordedCall[];
  /** Of the screen in pixels. */
  width: number;
  height: number;
}

/** Where it was touched, with the numbers of the list. */
export function ActionMarks({ actions, width, height }: ActionMarksProps) {
  const radius = width / 24;
  return (
    <svg className={styles['marks']} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      {actions.map(({ x, y, to_x: toX, to_y: toY }, index) =>
        x === undefined || y === undefined ? null : (
          <g key={index} data-mark={index + 1}>
            {toX !== undefined && toY !== undefined && (
              <>
                <line x1={x} y1={y} x2={toX} y2={toY} />
                <circle cx={toX} cy={toY} r={radius / 3} />
              </>
            )}
            <circle cx={x} cy={y} r={radius} />
            <text x={x} y={y} fontSize={radius * 1.2} textAnchor="middle" dominantBaseline="central">
              {index + 1}
            </text>
          </g>
        ),
      )}
    </svg>
  );
}
