import { classNames } from './class-names.ts';
import styles from './mark.module.css';

export type Tone = 'ready' | 'busy' | 'waiting' | 'act' | 'broken' | 'offline';

export interface MarkLook {
  readonly tone: Tone;
  readonly glyph: string;
  readonly word: string;
}

/** Mark of a state that combines color, shape and word. */
export const Mark = ({ tone, glyph, word }: MarkLook) => (
  <span className={classNames(styles['mark'], styles[tone])}>
    <span className={styles['glyph']} aria-hidden="true">
      {glyph}
    </span>
    {word}
  </span>
);
