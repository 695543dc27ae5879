import type { RunStep, RunDetail } from '@phalanx/protocol';
import { useQuery } from '@tanstack/react-query';
import { type CSSProperties, useEffect, useRef } from 'react';
import { ServiceError } from '@phalanx/client/service-errors';
import { Link } from '@tanstack/react-router';

import { classNames } from '../../parts/class-names.ts';
import { localAddress } from '../../api/call.ts';
import { treeQuery, type RecordScreen } from '../../evidence/records/record.tsx';
import phone from '../../fleet/screens/phone.module.css';
import { labelOf, type ScreenTreeView } from '../../fleet/screens/screen-tree.ts';
import styles from './trace.module.css';
import { clockTime } from '../../parts/time.tsx';
import { filesMs, readStoredFile, type StoredFile } from '../../code/projects/project.tsx';
import { runCodeQuery } from '../runs/run.tsx';
import { placeOfStack } from '../runs/stack.tsx';
import { unchanging } from '../../api/query-client.ts';

interface Size {
  readonly width: number;
  readonly height: number;
}

interface StepScreenProps {
  screen: RecordScreen | undefined;
  step: RunStep;
  /** Reason why there is no screen. */
  note: string;
}

/** Picture of a screen, or else a drawing of its tree, with a marker of what the step touched. */
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

interface LastScreenProps extends Size {
  address: string;
}

/** Screen of the phone when the run ended. */
export const LastScreen = ({ address, width, height }: LastScreenProps) => (
  <div className={classNames(phone['frame'], styles['frame'])}>
    {/* oxlint-disable-next-line typescript/no-unsafe-type-assertion -- React's type knows no properties of our own */}
    <div className={phone['phone']} style={{ '--ratio': `${width / height}` } as CSSProperties}>
      <img src={address} alt="The last screen of the run" draggable={false} />
    </div>
  </div>
);

/** Drawing of a screen without a picture: its texts at their positions. */
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

/** Marker of the touched node, the tapped point or the path of a swipe. */
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

/** Number of lines shown before and after the line of the step. */
const around = 60;

interface StepSourceProps {
  step: RunStep | undefined;
  run: RunDetail;
}

/** Source around the line of the step, or else of the error. */
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
        {source.version !== null && <span>{source.version}</span>}
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

const notKept = 'This code exceeds 1 MiB and was not stored.';

interface Source {
  /** Source text; null if it was not kept. */
  content: string | null | undefined;
  /** Note that says whether this is the code that ran or the current code. */
  version: string | null;
  note: string;
}

/**
 * Loads the code that ran: direct code as it was sent, or the file of a project as the run used it, committed or not.
 */
function useSource(run: RunDetail, path: string | undefined): Source {
  const isDirect = run.launch_id !== null;
  const direct = useQuery({ ...runCodeQuery(run.run_id), enabled: isDirect });
  const file = useQuery({
    queryKey: ['step-source', run.automation_id, path, run.tree],
    enabled: !isDirect && path !== undefined,
    ...unchanging,
    queryFn: ({ signal }) => readSource(run, path ?? '', signal),
  });
  const today = useQuery({
    queryKey: ['files', run.automation_id, 'today', path],
    enabled: file.data?.hasRun === true,
    // No event reports saves.
    refetchInterval: filesMs,
    queryFn: ({ signal }) => readToday(run.automation_id, path ?? '', signal),
  });
  const { error } = isDirect ? direct : file;
  const note = isDirect || path !== undefined ? 'Reading…' : 'Choose a step to see its line.';
  const noteOrError = error === null ? note : error.message;
  if (isDirect) return { content: direct.data, version: 'as it was sent', note: noteOrError };
  return {
    content: file.data?.content,
    version: file.data === undefined ? null : versionText(run, file.data, today.data),
    note: noteOrError,
  };
}

interface SourceFile extends StoredFile {
  /** Whether this is the file that ran; otherwise it is the currently saved one. */
  hasRun: boolean;
}

async function readSource(
  { automation_id: projectId, tree }: RunDetail,
  path: string,
  signal: AbortSignal,
): Promise<SourceFile> {
  try {
    if (tree !== null) return { ...(await readStoredFile(projectId, path, signal, { tree })), hasRun: true };
  } catch (error) {
    // Runs from before snapshots were kept have none.
    if (!(error instanceof ServiceError && error.code === 'tree_not_kept')) throw error;
  }
  return { ...(await readStoredFile(projectId, path, signal)), hasRun: false };
}

/** Reads the currently saved file; null if it was deleted. */
async function readToday(projectId: string, path: string, signal: AbortSignal): Promise<StoredFile | null> {
  try {
    return await readStoredFile(projectId, path, signal);
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'file_not_found') return null;
    throw error;
  }
}

function versionText(
  { created_at: at }: RunDetail,
  file: SourceFile,
  today: StoredFile | null | undefined,
): string {
  if (!file.hasRun) return 'the current file, not the one that ran';
  const ran = `as it ran at ${clockTime(at)}`;
  if (today === undefined) return ran;
  if (today === null) return `${ran}; the file has been deleted since`;
  return today.etag === file.etag ? ran : `${ran}; the file has changed since`;
}

interface LinesProps {
  content: string;
  line: number;
  /** Line at which the run failed. */
  failed: number | undefined;
}

function Lines({ content, line, failed }: LinesProps) {
  const scroll = useRef<HTMLDivElement>(null);
  const current = useRef<HTMLDivElement>(null);
  // Scrolls only the frame, not the page.
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
