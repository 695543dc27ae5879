import type { FilmVideo, RunStep, FilmPicture } from '@phalanx/protocol';
import { useEffect, useRef, useState, type CSSProperties } from 'react';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';

import { Button } from '../../parts/button.tsx';
import { classNames } from '../../parts/class-names.ts';
import phone from '../../fleet/screens/phone.module.css';
import { targetOf } from './steps.tsx';
import styles from './film-player.module.css';
import { call } from '../../api/call.ts';

/**
 * Maximum distance between a playing video and the place on display, in seconds. A larger distance means that another
 * place was chosen.
 */
const maxOffS = 0.75;

interface FilmPlayerProps {
  runId: string;
  /** Moments of the film, at least one. */
  moments: readonly FilmMoment[];
  steps: readonly RunStep[];
  step: RunStep | undefined;
  onChoose: (step: number) => void;
}

/** Player for the film of a run. The current step follows the film, and the film jumps to a chosen step. */
export function FilmPlayer({ runId, moments, steps, step, onChoose }: FilmPlayerProps) {
  const [isPlaying, setPlaying] = useState(false);
  const [chosen, setChosen] = useState<number>();
  const last = moments.length - 1;
  const place = Math.min(last, placeToShow(moments, { steps, step, chosen }));
  const moment = moments[place];
  const show = (next: number): void => {
    const shown = moments[next];
    setChosen(shown?.time);
    const of = shown && stepOf(steps, shown);
    if (of !== undefined && of.step !== step?.step) onChoose(of.step);
  };
  const showNextOf = (next: number): void => {
    const isOver = next < 0 || next > last;
    show(isOver ? last : next);
    if (isOver) setPlaying(false);
  };
  const playsItself = moment !== undefined && isVideo(moment.part);
  useEffect(() => {
    if (!isPlaying || playsItself) return undefined;
    const timer = setTimeout(() => showNextOf(place + 1), standsMs(moments, place));
    return () => clearTimeout(timer);
  });
  const play = (): void => {
    if (!isPlaying && place >= last) show(0);
    setPlaying(!isPlaying);
  };
  const addressOf = (part: FilmMoment['part']): string => filmAddress(runId, part);
  const next = moments.findIndex(({ part }, at) => at > place && part !== moment?.part);
  const nextPart = moments[next]?.part;
  const nextPicture = nextPart && !isVideo(nextPart) ? addressOf(nextPart) : undefined;
  useEffect(() => {
    // Preloads the next picture.
    if (nextPicture !== undefined) new Image().src = nextPicture;
  }, [nextPicture]);
  if (moment === undefined) return null;
  const { part } = moment;
  const time = timeText(moments, place);
  const label = altText(time, step);
  const ratio = `${part.width / part.height}`;
  const follow = (at: number): void => {
    const reached = Math.min(placeAt(moments, at), next === -1 ? last : next - 1);
    if (isPlaying && reached > place) show(reached);
  };
  const videos = [part, nextPart].filter((one) => one !== undefined).filter(isVideo);
  return (
    <section className={styles['player']} aria-label="Film">
      <div className={classNames(phone['frame'], styles['frame'])}>
        {/* oxlint-disable-next-line typescript/no-unsafe-type-assertion -- React's type knows no properties of our own */}
        <div className={phone['phone']} style={{ '--ratio': ratio } as CSSProperties}>
          {!isVideo(part) && <img src={addressOf(part)} alt={label} draggable={false} />}
          {videos.map((video) => (
            <FilmVideoPart
              key={video.number}
              {...{ video, label, isPlaying }}
              address={addressOf(video)}
              time={video === part ? moment.time : undefined}
              onTime={follow}
              onEnd={() => showNextOf(next)}
            />
          ))}
        </div>
      </div>
      <div className={styles['controls']}>
        <Button aria-pressed={isPlaying} onClick={play}>
          {isPlaying ? 'Pause' : 'Play'}
        </Button>
        <input
          type="range"
          aria-label="Place in the film"
          aria-valuetext={`${time}, ${place + 1} of ${moments.length}`}
          min={0}
          max={last}
          value={place}
          onChange={({ target }) => {
            setPlaying(false);
            show(Number(target.value));
          }}
        />
        <span className={styles['time']}>
          {time} · {place + 1}/{moments.length}
        </span>
      </div>
      {!isVideo(part) && part.no_video !== undefined && (
        <p className={styles['reason']}>A picture, no video: {part.no_video}</p>
      )}
    </section>
  );
}

interface FilmVideoPartProps {
  video: FilmVideo;
  address: string;
  label: string;
  /** Moment to show; undefined while an earlier part plays. */
  time: number | undefined;
  isPlaying: boolean;
  onTime: (time: number) => void;
  onEnd: () => void;
}

function FilmVideoPart({ video, address, label, time, isPlaying, onTime, onEnd }: FilmVideoPartProps) {
  const element = useRef<HTMLVideoElement>(null);
  const [hasFailed, setFailed] = useState(false);
  const atS = time === undefined ? undefined : (time - video.began_at) / 1000;
  useEffect(() => {
    const { current } = element;
    if (current === null || atS === undefined) return;
    if (Math.abs(current.currentTime - atS) > (isPlaying ? maxOffS : 0)) current.currentTime = atS;
    // The error event reports a video that the browser can't play.
    if (isPlaying && current.paused && !current.ended) current.play().catch(() => undefined);
    else if (!isPlaying) current.pause();
  }, [atS, isPlaying]);
  const isShown = atS !== undefined;
  const onError = (): void => {
    setFailed(true);
    if (isShown && isPlaying) onEnd();
  };
  if (isShown && hasFailed)
    return (
      <p className={styles['failed']}>
        This browser cannot play the video. <a href={address}>Download it</a>
      </p>
    );
  return (
    <video
      ref={element}
      src={address}
      aria-label={label}
      hidden={!isShown}
      muted
      playsInline
      preload="auto"
      onTimeUpdate={({ currentTarget }) => {
        if (isShown) onTime(video.began_at + currentTarget.currentTime * 1000);
      }}
      onEnded={onEnd}
      onError={onError}
    />
  );
}

interface Choice {
  steps: readonly RunStep[];
  step: RunStep | undefined;
  /** Chosen time. */
  chosen: number | undefined;
}

/** Returns the place of the time chosen last, unless a step was chosen since. */
function placeToShow(moments: readonly FilmMoment[], { steps, step, chosen }: Choice): number {
  const place = chosen === undefined ? undefined : placeAt(moments, chosen);
  const moment = place === undefined ? undefined : moments[place];
  const isOfStep = moment !== undefined && stepOf(steps, moment)?.step === step?.step;
  if (place !== undefined && (isOfStep || step === undefined)) return place;
  return step === undefined ? 0 : placeOfStep(moments, step);
}

function altText(time: string, step: RunStep | undefined): string {
  const during =
    step === undefined ? '' : `, at step ${step.step}: ${`${step.name} ${targetOf(step)}`.trim()}`;
  return `The screen ${time} after the beginning of the film${during}`;
}

/** Maximum display time of a picture, in ms. Playback shortens longer rests. */
const maxMs = 2000;
const minMs = 100;
/** Distance between two moments of a video, in ms. */
const momentMs = 500;

/** Moment of a film: a picture, or a time in a video. */
export interface FilmMoment {
  /** Time in epoch ms. */
  readonly time: number;
  readonly part: FilmPicture | FilmVideo;
}

const isVideo = (part: FilmMoment['part']): part is FilmVideo => 'ended_at' in part;

/**
 * Returns all moments of a film in order. The end of each step is a moment, so that the screen it left can be shown.
 */
export function momentsOf(
  pictures: readonly FilmPicture[],
  videos: readonly FilmVideo[],
  steps: readonly RunStep[],
): FilmMoment[] {
  const ends = steps.map(({ timestamp, duration_ms }) => timestamp + duration_ms);
  const moving = videos.flatMap((part) => timesOf(part, ends).map((time) => ({ time, part })));
  const isInVideo = ({ taken_at }: FilmPicture): boolean =>
    videos.some(({ began_at, ended_at }) => taken_at >= began_at && taken_at < ended_at);
  const still = pictures
    .filter((picture) => !isInVideo(picture))
    .map((part) => ({ time: part.taken_at, part }));
  return [...moving, ...still].toSorted((one, other) => one.time - other.time);
}

/**
 * Returns the only picture of a film if it was taken after the last step. It is the last screen, which no earlier
 * step has seen.
 */
export function lastScreenOf(
  moments: readonly FilmMoment[],
  steps: readonly RunStep[],
): FilmPicture | undefined {
  const [moment, last] = [moments[0], steps.at(-1)];
  if (moment === undefined || last === undefined || moments.length > 1 || isVideo(moment.part))
    return undefined;
  return moment.time >= last.timestamp + last.duration_ms ? moment.part : undefined;
}

function timesOf({ began_at, ended_at }: FilmVideo, ends: readonly number[]): number[] {
  const times = new Set(ends.filter((end) => end > began_at && end < ended_at));
  for (let time = began_at; time < ended_at; time += momentMs) times.add(time);
  return [...times].toSorted((one, other) => one - other);
}

/** Returns the place of the newest moment at or before a time. */
export function placeAt(moments: readonly FilmMoment[], at: number): number {
  return Math.max(
    0,
    moments.findLastIndex(({ time }) => time <= at),
  );
}

/** Returns the step that ran at a moment, or else the last one before it. */
export const stepOf = (steps: readonly RunStep[], { time }: Pick<FilmMoment, 'time'>): RunStep | undefined =>
  steps.findLast(({ timestamp }) => timestamp <= time) ?? steps[0];

export const filmAddress = (runId: string, { number }: FilmMoment['part']): string =>
  `/api/v2/runs/${runId}/film/${number}`;

/** Returns the place of the picture on display when the step ended. */
export const placeOfStep = (moments: readonly FilmMoment[], step: RunStep): number =>
  placeAt(moments, step.timestamp + step.duration_ms);

/** Returns the display time of a picture during playback, in ms. */
export function standsMs(moments: readonly FilmMoment[], place: number): number {
  const [moment, next] = [moments[place], moments[place + 1]];
  if (moment === undefined || next === undefined) return minMs;
  return Math.min(maxMs, Math.max(minMs, next.time - moment.time));
}

/** Formats the time since the beginning of the film, such as `12.4 s`. */
export const timeText = (moments: readonly FilmMoment[], place: number): string =>
  `${(((moments[place]?.time ?? 0) - (moments[0]?.time ?? 0)) / 1000).toFixed(1)} s`;

const pollMs = 2000;

interface Film {
  readonly pictures: readonly FilmPicture[];
  readonly videos: readonly FilmVideo[];
}

const noFilm: Film = { pictures: [], videos: [] };

/** Query for the film of a run; empty if there is none. An active run adds to it. */
export const filmQuery = (runId: string, isActive: boolean) => {
  const queryKey = ['run', runId, 'film', isActive];
  return queryOptions({
    queryKey,
    queryFn: async ({ client, signal }): Promise<Film> => {
      const known = isActive ? (client.getQueryData<Film>(queryKey) ?? noFilm) : noFilm;
      const more = await readAfter(runId, lastNumber(known), signal);
      return {
        pictures: [...known.pictures, ...more.pictures],
        videos: [...known.videos, ...more.videos],
      };
    },
    refetchInterval: isActive ? pollMs : false,
    placeholderData: keepPreviousData,
  });
};

const lastNumber = ({ pictures, videos }: Film): number =>
  Math.max(pictures.at(-1)?.number ?? 0, videos.at(-1)?.number ?? 0);

async function readAfter(runId: string, after: number, signal: AbortSignal): Promise<Film> {
  const [pictures, videos]: [FilmPicture[], FilmVideo[]] = [[], []];
  for (let cursor: string | null = String(after); cursor !== null;) {
    const input = { params: { id: runId }, query: { cursor } };
    const page: { pictures: FilmPicture[]; videos: FilmVideo[]; next_cursor: string | null } = await call(
      'GET /api/v2/runs/:id/film',
      input,
      { signal },
    );
    pictures.push(...page.pictures);
    videos.push(...page.videos);
    cursor = page.next_cursor;
  }
  return { pictures, videos };
}
