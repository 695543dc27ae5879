import { useEffect, useRef } from 'react';

import { localAddress } from '../records/local-address.ts';
import type { RecordScreen } from '../records/queries.ts';
import styles from './trace.module.css';

interface ScreenFilmProps {
  screens: readonly RecordScreen[];
  chosen: string | undefined;
  onChoose: (screenId: string) => void;
}

/** The stored screens of the run, oldest first. */
export function ScreenFilm({ screens, chosen, onChoose }: ScreenFilmProps) {
  const strip = useRef<HTMLDivElement>(null);
  const current = useRef<HTMLButtonElement>(null);
  // Within the strip alone: the page stays where it is.
  useEffect(() => {
    const [frame, place] = [strip.current, current.current];
    if (frame !== null && place !== null) frame.scrollLeft = place.offsetLeft - frame.clientWidth / 2;
  }, [chosen, screens]);
  if (screens.length === 0) return null;
  return (
    <div ref={strip} className={styles['film']} role="group" aria-label="Screens">
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
            onClick={() => onChoose(screen._id)}
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
