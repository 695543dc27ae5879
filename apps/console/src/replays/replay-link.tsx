import type { Replay } from '@phalanx/protocol';
import { Link } from '@tanstack/react-router';

import { boardText } from './replay-words.ts';
import styles from './replays.module.css';

/** What came of a replay, as a link to its screens. */
export function ReplayLink({ replay, lead = '' }: { replay: Replay; lead?: string }) {
  const text = boardText(replay);
  if (text === '') return null;
  return (
    <Link
      className={styles['board']}
      data-broken={replay.counts.broken > 0}
      to="/projects/$projectId/replays"
      params={{ projectId: replay.project_id }}
      search={{ replay: replay.id }}
    >
      {lead}
      {text}
    </Link>
  );
}
