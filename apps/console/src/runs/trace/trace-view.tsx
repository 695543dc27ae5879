import type { FilmPicture, RunDetail, RunStep } from '@phalanx/protocol';
import { useQueries, useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';

import type { LogSnapshot } from '../logs/run-log.tsx';
import { LogView } from '../logs/log-view.tsx';
import { Splitter, usePaneSize } from '../../parts/splitter.tsx';
import { InlineFailure } from '../../parts/states.tsx';
import { localAddress } from '../../api/call.ts';
import { recordQuery, type RecordScreen } from '../../evidence/records/record.tsx';
import { isActive } from '../runs/run.tsx';
import { devicesQuery } from '../../fleet/devices/device.tsx';
import { LiveScreen } from '../../control/live/live-screen.tsx';
import { FilmPlayer, filmAddress, filmQuery, type FilmMoment, lastScreenOf, momentsOf } from './film.tsx';
import { StepList, durationText, placeOf, targetOf, useRunTrace } from './steps.tsx';
import { LastScreen, StepScreen, StepSource } from './step-detail.tsx';
import { screensOf, stepOfScreen } from './step-screens.ts';
import styles from './trace.module.css';

interface TraceViewProps {
  run: RunDetail;
  log: LogSnapshot;
  /** Number of the chosen step, from the address; undefined if none was chosen. */
  chosen: number | undefined;
  onChoose: (step: number) => void;
  onOpenLine: ((path: string, line: number) => void) | undefined;
}

/**
 * Steps of a run with their screens, the log and the source. A choice in one of them selects the matching part in
 * all.
 */
export function TraceView({ run, log, chosen, onChoose, onOpenLine }: TraceViewProps) {
  const trace = useRunTrace(run.run_id, isActive(run));
  const screens = useStepScreens(run);
  const { data: parts } = useQuery(filmQuery(run.run_id, isActive(run)));
  const { steps } = trace;
  const { film, lastScreen } = useMemo(() => {
    const moments = parts === undefined ? [] : momentsOf(parts.pictures, parts.videos, steps);
    const last = isActive(run) ? undefined : lastScreenOf(moments, steps);
    return { film: last === undefined ? moments : [], lastScreen: last };
  }, [parts, steps, run]);
  const step = useMemo(() => stepToShow(steps, chosen, run), [steps, chosen, run]);
  const foot = usePaneSize('phalanx.run', 'foot', 260, { min: 120, max: 700 });
  const choseAt = (timestamp: number): void => {
    const last = steps.findLast((one) => one.timestamp <= timestamp);
    if (last !== undefined) onChoose(last.step);
  };
  return (
    <div className={styles['trace']} style={{ gridTemplateRows: `minmax(240px, 1fr) ${foot.size}px` }}>
      <div className={styles['upper']}>
        <section className={styles['pane']} aria-label="Trace">
          <div className={styles['paneHead']}>
            <h2>Steps</h2>
            <span>{countText(trace.steps)}</span>
          </div>
          {trace.error !== null && <InlineFailure error={trace.error} />}
          {trace.isTruncated && (
            <p className={styles['note']}>
              This trace was too long to store in full. Its beginning and end are shown.
            </p>
          )}
          {steps.length === 0 ? (
            <p className={styles['note']}>
              {trace.isLoaded ? 'The run has made no calls of agent.' : 'Reading…'}
            </p>
          ) : (
            <StepList steps={steps} chosen={step?.step} onChoose={onChoose} isLive={isActive(run)} />
          )}
        </section>
        <section className={styles['pane']} aria-label="Screen of the step">
          {step === undefined && isActive(run) && (
            <>
              <div className={styles['paneHead']}>
                <h2>The phone now</h2>
              </div>
              <PhoneNow deviceId={run.device_id} />
            </>
          )}
          {step === undefined && !isActive(run) && film.length > 0 && (
            <FilmPlayer runId={run.run_id} moments={film} {...{ steps, step, onChoose }} />
          )}
          {step !== undefined && (
            <Chosen
              key={run.run_id}
              {...{ step, steps, screens, film, onChoose }}
              lastScreen={step === steps.at(-1) ? lastScreen : undefined}
              deviceId={isActive(run) ? run.device_id : undefined}
              runError={run.error}
            />
          )}
        </section>
      </div>
      <div className={styles['lower']}>
        <Splitter label="Height of log and source" pane={foot} edge="top" />
        <div className={styles['pane']}>
          <LogView
            log={log}
            isLive={isActive(run)}
            onOpenLine={onOpenLine}
            isNarrow
            span={step === undefined ? undefined : spanOf(step)}
            onPick={choseAt}
          />
        </div>
        <StepSource step={step} run={run} />
      </div>
    </div>
  );
}

const spanOf = (step: RunStep): { from: number; to: number } => ({
  from: step.timestamp,
  to: step.timestamp + step.duration_ms,
});

function countText(steps: readonly RunStep[]): string {
  const failed = steps.filter(({ outcome }) => outcome !== 'ok').length;
  const all = steps.length.toLocaleString('en');
  return failed === 0 ? all : `${all}, ${failed.toLocaleString('en')} not ok`;
}

/**
 * Returns the step to show. An ended run opens at its last step, or, if it did not succeed, at the last one that was
 * not ok.
 */
function stepToShow(
  steps: readonly RunStep[],
  chosen: number | undefined,
  run: RunDetail,
): RunStep | undefined {
  const found = chosen === undefined ? undefined : steps.find(({ step }) => step === chosen);
  if (found !== undefined || isActive(run)) return found;
  const isBad = run.outcome !== 'succeeded' && run.outcome !== null;
  return (isBad ? steps.findLast(({ outcome }) => outcome !== 'ok') : undefined) ?? steps.at(-1);
}

interface ChosenProps {
  step: RunStep;
  steps: readonly RunStep[];
  screens: ReturnType<typeof useStepScreens>;
  film: readonly FilmMoment[];
  /** Last screen of the run, if this is its last step. */
  lastScreen: FilmPicture | undefined;
  /** Phone on which the run is active; undefined after its end. */
  deviceId: string | undefined;
  runError: RunDetail['error'];
  onChoose: (step: number) => void;
}

const momentTexts = { before: 'Before', after: 'After', film: 'Film', now: 'Now' } as const;
type ShownMoment = keyof typeof momentTexts;

/**
 * Returns the screen to show: for a touch, the screen before it; for a wait, the screen it found. If that screen is
 * not stored, the film or the live phone is shown.
 */
function momentToShow(
  step: RunStep,
  { before, after }: ReturnType<typeof screensOf>,
  moments: readonly ShownMoment[],
): ShownMoment {
  const other = moments.find((one) => one === 'film' || one === 'now');
  if (before === undefined && after === undefined && other !== undefined) return other;
  const own = step.after === undefined ? 'before' : 'after';
  if ((own === 'after' ? after : before) !== undefined) return own;
  return after === undefined ? 'before' : 'after';
}

/** Chosen picture of the strip and the step that it belongs to. */
interface Picked {
  readonly step: number;
  readonly screen: RecordScreen;
  readonly moment: ShownMoment;
}

function Chosen(props: ChosenProps) {
  const { step, steps, screens, film, lastScreen, deviceId, runError, onChoose } = props;
  const [chosen, setMoment] = useState<ShownMoment>();
  const [picked, setPicked] = useState<Picked>();
  const found = screensOf(steps, step, screens);
  const { before, after } = found;
  const moments: readonly ShownMoment[] = [
    ...(['before', 'after'] as const),
    ...(film.length > 0 ? (['film'] as const) : []),
    ...(deviceId === undefined ? [] : (['now'] as const)),
  ];
  const ofStrip = picked?.step === step.step ? picked : undefined;
  const isLastKept = after === undefined && lastScreen !== undefined && ofStrip === undefined;
  const shown =
    ofStrip?.moment ??
    moments.find((one) => one === chosen) ??
    (isLastKept ? 'after' : momentToShow(step, found, moments));
  const screen = ofStrip?.screen ?? (shown === 'before' ? before : shown === 'after' ? after : undefined);
  const pick = (wanted: RecordScreen): void => {
    const of = stepOfScreen(steps, wanted);
    if (of === undefined) return;
    const isBefore = screensOf(steps, of, screens).before?._id === wanted._id;
    setPicked({ step: of.step, screen: wanted, moment: isBefore ? 'before' : 'after' });
    onChoose(of.step);
  };
  return (
    <>
      <div className={styles['paneHead']}>
        <h2>
          {step.step} · {step.name}
        </h2>
        <div className={styles['moments']} role="group" aria-label="Moment">
          {moments.map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={one === shown}
              onClick={() => {
                setMoment(one);
                setPicked(undefined);
              }}
            >
              {momentTexts[one]}
            </button>
          ))}
        </div>
      </div>
      <StepFacts step={step} isToldByRun={isToldByRun(step, runError)} />
      {shown === 'film' && <FilmPlayer runId={step.run_id} moments={film} {...{ steps, step, onChoose }} />}
      {shown === 'now' && deviceId !== undefined && <PhoneNow deviceId={deviceId} />}
      {shown === 'after' && isLastKept && (
        <LastScreen {...lastScreen} address={filmAddress(step.run_id, lastScreen)} />
      )}
      {(shown === 'before' || (shown === 'after' && !isLastKept)) && (
        <StepScreen
          screen={screen}
          step={step}
          note={
            deviceId !== undefined
              ? 'Screens are stored when a run fails, or when it stores them itself.'
              : 'No screen of this step was stored. Stored screens are those of the last steps before a failure, those that the automation stores, and the last screen of a successful run.'
          }
        />
      )}
      {shown !== 'film' && <ScreenStrip screens={screens} chosen={screen?._id} onChoose={pick} />}
    </>
  );
}

/** Live screen of the run's phone, if the caller may see that phone. */
function PhoneNow({ deviceId }: { deviceId: string }) {
  const { data: devices } = useQuery(devicesQuery);
  const device = devices?.find((one) => one.device_id === deviceId);
  if (device !== undefined)
    return (
      <div className={styles['now']}>
        <LiveScreen key={deviceId} device={device} />
      </div>
    );
  return (
    <p className={styles['note']}>
      {devices === undefined ? 'Reading…' : 'You no longer see this phone, so its picture is not shown here.'}
    </p>
  );
}

/** Whether the run's error, shown beside the steps, already contains the message of this step. */
const isToldByRun = ({ message }: RunStep, error: RunDetail['error']): boolean =>
  message !== undefined && message !== null && error?.message.includes(message) === true;

interface StepFactsProps {
  step: RunStep;
  isToldByRun: boolean;
}

function StepFacts({ step, isToldByRun: isTold }: StepFactsProps) {
  const { outcome, message, nearest = [], readings = 0, skipped = 0 } = step;
  const facts = [
    targetOf(step),
    durationText(step.duration_ms),
    readings > 1 ? `${readings} readings` : '',
    placeOf(step) ?? '',
    skipped > 0 ? `${skipped} steps before it were too fast to be recorded` : '',
  ].filter((fact) => fact !== '');
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
    <div className={styles['facts']} role="region" aria-label="Facts of the step" tabIndex={0}>
      <p>{facts.join(' · ')}</p>
      {outcome !== 'ok' && (
        <p className={styles['failure']}>
          <code>{outcome}</code> {isTold ? 'The run ended with this error.' : message}
        </p>
      )}
      {nearest.length > 0 && <p>Nearest on the screen: {nearest.map((text) => `“${text}”`).join(', ')}</p>}
    </div>
  );
}

/** Number of newest records of a run to read. They contain its last screens, up to 50 per record. */
const maxRecords = 5;

const namesOfParts = ({ _id, uiUrl, screenshot: { screenshotUrl } }: RecordScreen): string =>
  `${_id} ${uiUrl === null ? '' : 'tree'} ${screenshotUrl === null ? '' : 'picture'}`;

/** Returns the stored screens of a run, oldest first. */
function useStepScreens(run: Pick<RunDetail, 'run_id' | 'records'>): readonly RecordScreen[] {
  const queries = run.records
    .slice(0, maxRecords)
    .map(({ record_id: at }) => recordQuery({ run: run.run_id, status: 'any' }, { at }));
  const replies = useQueries({ queries }).map(({ data }) => data?.result?.screens);
  // Pictures and trees arrive after their screen.
  const known = replies.map((screens) => screens?.map(namesOfParts).join() ?? '-').join(';');
  return useMemo(
    () => {
      const byId = new Map(replies.flatMap((screens) => screens ?? []).map((screen) => [screen._id, screen]));
      return [...byId.values()].toSorted((one, other) => one.timestamp - other.timestamp);
    },
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the replies are new each time; these tell whether they differ
    [run.run_id, known],
  );
}

interface ScreenStripProps {
  screens: readonly RecordScreen[];
  chosen: string | undefined;
  onChoose: (screen: RecordScreen) => void;
}

/** Strip of the stored screens of a run, oldest first. */
function ScreenStrip({ screens, chosen, onChoose }: ScreenStripProps) {
  const strip = useRef<HTMLDivElement>(null);
  const current = useRef<HTMLButtonElement>(null);
  // Scrolls only the strip, not the page.
  useEffect(() => {
    const [frame, place] = [strip.current, current.current];
    if (frame !== null && place !== null) frame.scrollLeft = place.offsetLeft - frame.clientWidth / 2;
  }, [chosen, screens]);
  if (screens.length === 0) return null;
  return (
    <div ref={strip} className={styles['strip']} role="group" aria-label="Screens">
      {screens.map((screen, index) => {
        const { screenshotUrl } = screen.screenshot;
        const isChosen = screen._id === chosen;
        return (
          <button
            key={screen._id}
            ref={isChosen ? current : null}
            type="button"
            aria-pressed={isChosen}
            aria-label={`Screen ${index + 1} of ${screens.length}`}
            className={styles['shot']}
            onClick={() => onChoose(screen)}
          >
            {screenshotUrl === null ? (
              <span aria-hidden="true">{index + 1}</span>
            ) : (
              <img loading="lazy" src={localAddress(screenshotUrl)} alt="" width={36} height={64} />
            )}
          </button>
        );
      })}
    </div>
  );
}
