import type { RunStep } from '@phalanx/protocol';
import { useQuery } from '@tanstack/react-query';
import type { CSSProperties } from 'react';

import { classNames } from '../parts/class-names.ts';
import { localAddress } from '../api/call.ts';
import { treeQuery, type RecordScreen } from '../records/queries.ts';
import phone from '../screens/phone.module.css';
import { labelOf, type ScreenTreeView } from '../screens/screen-tree.ts';
import styles from './trace.module.css';

interface Size {
  readonly width: number;
  readonly height: number;
}

interface StepScreenProps {
  screen: RecordScreen | undefined;
  step: RunStep;
  /** Why there is no screen. */
  note: string;
}

/** The picture of a screen, or else a drawing of its tree, with what the step touched. */
export function StepScreen({ screen, step, note }: StepScreenProps) {
  const { data: tree } = useQuery(treeQuery(screen));
  if (screen === undefined) return <p className={styles['note']}>{note}</p>;
  const { screenshotUrl, originalWidth, originalHeight } = screen.screenshot;
  const bounds = tree?.root.boundsInScreen;
  const size = {
    width: originalWidth || bounds?.right || 1080,
    height: originalHeight || bounds?.bottom || 2400,
  };
  return (
    <div className={classNames(phone['frame'], styles['frame'])}>
      {/* oxlint-disable-next-line typescript/no-unsafe-type-assertion -- React's type knows no properties of our own */}
      <div className={phone['phone']} style={{ '--ratio': `${size.width / size.height}` } as CSSProperties}>
        {screenshotUrl === null ? (
          tree !== undefined && <TreeDrawing tree={tree} size={size} />
        ) : (
          <img src={localAddress(screenshotUrl)} alt={`Screen ${screen.screenState}`} draggable={false} />
        )}
        <Touched step={step} size={size} />
      </div>
    </div>
  );
}

/** A screen without a picture: its texts where they stood. */
function TreeDrawing({ tree, size }: { tree: ScreenTreeView; size: Size }) {
  const shown = tree.rows.filter(
    ({ node }) => node.isVisible && node.children.length === 0 && labelOf(node) !== undefined,
  );
  return (
    <svg
      className={styles['drawing']}
      viewBox={`0 0 ${size.width} ${size.height}`}
      role="img"
      aria-label="The texts of the screen, where they stood"
    >
      {shown.map(({ node, index }) => {
        const { left, top, right, bottom } = node.boundsInScreen;
        const height = Math.min(bottom - top, size.height / 40);
        return (
          <g key={index}>
            <rect x={left} y={top} width={Math.max(0, right - left)} height={Math.max(0, bottom - top)} />
            <svg x={left} y={top} width={Math.max(0, right - left)} height={Math.max(0, bottom - top)}>
              <text x="4" y="50%" dominantBaseline="middle" fontSize={height * 0.75}>
                {labelOf(node)}
              </text>
            </svg>
          </g>
        );
      })}
    </svg>
  );
}

/** The node, the point or the way of a touch. */
function Touched({ step: { node, point, swipe }, size }: { step: RunStep; size: Size }) {
  const [left = 0, top = 0, right = 0, bottom = 0] = node ?? [];
  const [x = 0, y = 0] = point ?? [];
  const [fromX = 0, fromY = 0, toX = 0, toY = 0] = swipe ?? [];
  const dot = size.width / 30;
  return (
    <svg
      className={styles['touched']}
      viewBox={`0 0 ${size.width} ${size.height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {node !== undefined && (
        <rect x={left} y={top} width={Math.max(0, right - left)} height={Math.max(0, bottom - top)} />
      )}
      {point !== undefined && <circle cx={x} cy={y} r={dot} />}
      {swipe !== undefined && (
        <>
          <line x1={fromX} y1={fromY} x2={toX} y2={toY} />
          <circle cx={toX} cy={toY} r={dot / 2} />
        </>
      )}
    </svg>
  );
}
