import { useEffect, useRef } from 'react';

import { localAddress } from './local-address.ts';
import type { RecordScreen } from './queries.ts';
import styles from './review.module.css';

interface FilmstripProps {
  screens: readonly RecordScreen[];
  chosen: number;
  onChoose: (index: number) => void;
}

/** The last screens of the run, the oldest first. */
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
