import { useEffect, useRef } from 'react';
import { describeCall, type RecordedCall } from '@phalanx/protocol';

import { localAddress } from '../../api/call.ts';
import type { RecordScreen } from './record.tsx';
import styles from './review.module.css';

interface FilmstripProps {
  screens: readonly RecordScreen[];
  chosen: number;
  onChoose: (index: number) => void;
}

/** Last screens of the run, oldest first. */
export function Filmstrip({ screens, chosen, onChoose }: FilmstripProps) {
  const current = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    current.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [chosen, screens]);
  return (
    <div className={styles['strip']} role="tablist" aria-label="Screens of the record">
      {screens.map((screen, index) => (
        <button
          key={index}
          ref={index === chosen ? current : null}
          type="button"
          role="tab"
          aria-selected={index === chosen}
          className={styles['shot']}
          title={`on the way to ${screen.nextStage}, ${screen.maxSteps} steps left`}
          onClick={() => onChoose(index)}
        >
          {screen.screenshot.screenshotUrl === null ? (
            <div className={styles['blank']}>no picture</div>
          ) : (
            <img
              key={screen._id}
              loading="lazy"
              src={localAddress(screen.screenshot.screenshotUrl)}
              alt={`Screen ${index + 1}`}
              width={76}
              height={104}
            />
          )}
          <span>
            {index + 1} · {screen.screenState}
          </span>
        </button>
      ))}
    </div>
  );
}

/** Calls on a screen before the next one was stored, as a list for screen readers. */
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
  /** Width and height of the screen in pixels. */
  width: number;
  height: number;
}

/** Markers of touches on the picture, numbered as in the list. */
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
