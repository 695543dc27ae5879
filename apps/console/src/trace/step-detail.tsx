import type { RunStep, RunDetail } from '@phalanx/protocol';
import { useQuery } from '@tanstack/react-query';
import { type CSSProperties, useEffect, useRef } from 'react';
import { ServiceError } from '@phalanx/client/transport';
import { Link } from '@tanstack/react-router';

import { classNames } from '../parts/class-names.ts';
import { localAddress } from '../api/call.ts';
import { treeQuery, type RecordScreen } from '../records/record.tsx';
import phone from '../screens/phone.module.css';
import { labelOf, type ScreenTreeView } from '../screens/screen-tree.ts';
import styles from './trace.module.css';
import { readStoredFile } from '../projects/project.tsx';
import { runCodeQuery } from '../runs/run.tsx';
import { placeOfStack } from '../runs/stack.tsx';

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

/** Lines that are drawn around the line of the step. */
const around = 60;

interface StepSourceProps {
  step: RunStep | undefined;
  run: RunDetail;
}

/** The line of the step, or else of the error, among the lines around it. */
export function StepSource({ step, run }: StepSourceProps) {
  const projectId = run.launch_id === null ? run.automation_id : undefined;
  const failed = placeOfStack(run.error?.stack);
  const path = step?.path ?? failed?.file;
  const line = step?.line_number ?? failed?.line ?? 0;
  const source = useSource(run, path);
  return (
    <section className={styles['source']} aria-label="Source">
      <div className={styles['paneHead']}>
        <h2>Source</h2>
        <Place {...{ projectId, path, line }} />
      </div>
      {typeof source.content === 'string' ? (
        <Lines
          content={source.content}
          line={line}
          failed={failed?.file === path ? failed?.line : undefined}
        />
      ) : (
        <p className={styles['note']}>{source.content === null ? notKept : source.note}</p>
      )}
    </section>
  );
}

function Place({
  projectId,
  path,
  line,
}: {
  projectId: string | undefined;
  path: string | undefined;
  line: number;
}) {
  if (path === undefined || line === 0) return null;
  const text = `${path}:${line}`;
  if (projectId === undefined) return <span>{text}</span>;
  return (
    <Link to="/projects/$projectId" params={{ projectId }} search={{ file: path, line }}>
      {text}
    </Link>
  );
}

const notKept = 'This code was not kept: it has more than 1 MiB.';

/** Direct code is one file, and is kept with its run; a file of a project is read as the run had it, if that is committed. */
function useSource(
  run: RunDetail,
  path: string | undefined,
): { content: string | null | undefined; note: string } {
  const isDirect = run.launch_id !== null;
  const projectId = run.automation_id;
  const commit = run.dirty === false ? (run.commit ?? undefined) : undefined;
  const direct = useQuery({ ...runCodeQuery(run.run_id), enabled: isDirect });
  const file = useQuery({
    queryKey: ['step-source', projectId, path, commit],
    enabled: !isDirect && path !== undefined,
    queryFn: ({ signal }) => readSource({ projectId, path: path ?? '', commit }, signal),
  });
  const { data, error } = isDirect ? direct : file;
  const note = isDirect || path !== undefined ? 'Reading…' : 'Choose a step to see its line.';
  return { content: data, note: error === null ? note : error.message };
}

interface SourceFile {
  projectId: string;
  path: string;
  commit: string | undefined;
}

async function readSource({ projectId, path, commit }: SourceFile, signal: AbortSignal): Promise<string> {
  try {
    return (await readStoredFile(projectId, path, signal, commit)).content;
  } catch (error) {
    // A push may have replaced the history of the run.
    if (!(error instanceof ServiceError && error.code === 'commit_not_found')) throw error;
    return (await readStoredFile(projectId, path, signal)).content;
  }
}

interface LinesProps {
  content: string;
  line: number;
  /** Where the run ended. */
  failed: number | undefined;
}

function Lines({ content, line, failed }: LinesProps) {
  const scroll = useRef<HTMLDivElement>(null);
  const current = useRef<HTMLDivElement>(null);
  // Within its frame alone: the page stays where it is.
  useEffect(() => {
    const [frame, place] = [scroll.current, current.current];
    if (frame !== null && place !== null) frame.scrollTop = place.offsetTop - frame.clientHeight / 2;
  }, [content, line]);
  const first = Math.max(0, line - 1 - around);
  const lines = content.split('\n').slice(first, line + around);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
    <div ref={scroll} className={styles['code']} tabIndex={0} role="region" aria-label="Lines of the file">
      {lines.map((text, index) => {
        const number = first + index + 1;
        return (
          <div
            key={number}
            ref={number === line ? current : null}
            className={styles['codeLine']}
            aria-current={number === line ? 'step' : undefined}
            data-failed={number === failed}
            title={number === failed ? 'The run ended here.' : undefined}
          >
            <span>{number}</span>
            <code>{text}</code>
          </div>
        );
      })}
    </div>
  );
}
