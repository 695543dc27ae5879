import type { FilmPicture, RunStep } from '@phalanx/protocol';
import { useEffect, useState, type CSSProperties } from 'react';

import { Button } from '../parts/button.tsx';
import { classNames } from '../parts/class-names.ts';
import phone from '../screens/phone.module.css';
import { targetOf } from './step-words.ts';
import styles from './film-player.module.css';
import { placeOfStep, standsMs, stepOf, timeText } from './film-times.ts';

interface FilmPlayerProps {
  runId: string;
  /** One at least. */
  pictures: readonly FilmPicture[];
  steps: readonly RunStep[];
  step: RunStep | undefined;
  onChoose: (step: number) => void;
}

/** Plays the film of a run. The step follows the film, and the film a step that is chosen. */
export function FilmPlayer({ runId, pictures, steps, step, onChoose }: FilmPlayerProps) {
  const [isPlaying, setPlaying] = useState(false);
  const [chosen, setChosen] = useState<number>();
  const last = pictures.length - 1;
  const place = Math.min(last, placeToShow(pictures, { steps, step, chosen }));
  const show = (next: number): void => {
    setChosen(next);
    const picture = pictures[next];
    const of = picture && stepOf(steps, picture);
    if (of !== undefined && of.step !== step?.step) onChoose(of.step);
  };
  useEffect(() => {
    if (!isPlaying) return undefined;
    const timer = setTimeout(
      () => {
        if (place >= last) setPlaying(false);
        else show(place + 1);
      },
      standsMs(pictures, place),
    );
    return () => clearTimeout(timer);
  });
  const play = (): void => {
    if (!isPlaying && place >= last) show(0);
    setPlaying(!isPlaying);
  };
  const addressOf = (number: number): string => `/api/v2/runs/${runId}/film/${number}`;
  const next = pictures[place + 1];
  const nextAddress = next && addressOf(next.number);
  useEffect(() => {
    // The browser has it when its turn comes.
    if (nextAddress !== undefined) new Image().src = nextAddress;
  }, [nextAddress]);
  const picture = pictures[place];
  if (picture === undefined) return null;
  const time = timeText(pictures, place);
  const ratio = `${picture.width / picture.height}`;
  return (
    <section className={styles['player']} aria-label="Film">
      <div className={classNames(phone['frame'], styles['frame'])}>
        {/* oxlint-disable-next-line typescript/no-unsafe-type-assertion -- React's type knows no properties of our own */}
        <div className={phone['phone']} style={{ '--ratio': ratio } as CSSProperties}>
          <img src={addressOf(picture.number)} alt={altText(time, step)} draggable={false} />
        </div>
      </div>
      <div className={styles['controls']}>
        <Button aria-pressed={isPlaying} onClick={play}>
          {isPlaying ? 'Pause' : 'Play'}
        </Button>
        <input
          type="range"
          aria-label="Place in the film"
          aria-valuetext={`${time}, picture ${place + 1} of ${pictures.length}`}
          min={0}
          max={last}
          value={place}
          onChange={({ target }) => {
            setPlaying(false);
            show(Number(target.value));
          }}
        />
        <span className={styles['time']}>
          {time} · {place + 1}/{pictures.length}
        </span>
      </div>
    </section>
  );
}

interface Choice {
  steps: readonly RunStep[];
  step: RunStep | undefined;
  chosen: number | undefined;
}

/** The picture that was chosen last, unless a step has been chosen since. */
function placeToShow(pictures: readonly FilmPicture[], { steps, step, chosen }: Choice): number {
  const picture = chosen === undefined ? undefined : pictures[chosen];
  const isOfStep = picture !== undefined && stepOf(steps, picture)?.step === step?.step;
  if (chosen !== undefined && (isOfStep || step === undefined)) return chosen;
  return step === undefined ? 0 : placeOfStep(pictures, step);
}

function altText(time: string, step: RunStep | undefined): string {
  const during =
    step === undefined ? '' : `, at step ${step.step}: ${`${step.name} ${targetOf(step)}`.trim()}`;
  return `The screen ${time} after the beginning of the film${during}`;
}
