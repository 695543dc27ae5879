import { useState } from 'react';

import { useMissingScope } from '../api/me.ts';
import { ActionDialog } from '../parts/dialog.tsx';
import { Button } from '../parts/button.tsx';
import styles from './groups.module.css';

interface Props {
  /** As verdicts of replays call them. */
  names: readonly string[];
  onDelete: (name: string) => Promise<void>;
}

/** The copies of a group's screens that replays use. They stay when their records are deleted. */
export function KeptScreens({ names, onDelete }: Props) {
  const missing = useMissingScope('review');
  const [asked, setAsked] = useState<string>();
  if (names.length === 0) return null;
  const remove = async (): Promise<void> => {
    if (asked !== undefined) await onDelete(asked);
    setAsked(undefined);
  };
  return (
    <details className={styles['kept']}>
      <summary>
        {names.length === 1 ? '1 screen is kept for replays' : `${names.length} screens are kept for replays`}
      </summary>
      <ul>
        {names.map((name) => (
          <li key={name}>
            <code>{name}</code>
            <Button
              look="quiet"
              reason={missing}
              aria-label={`Delete screen ${name}`}
              onClick={() => setAsked(name)}
            >
              Delete…
            </Button>
          </li>
        ))}
      </ul>
      {asked !== undefined && (
        <ActionDialog
          title="Delete this screen?"
          onClose={() => setAsked(undefined)}
          action="Delete"
          look="danger"
          onAct={remove}
        >
          <p>
            No replay uses <code>{asked}</code> again. Records that show it stay. This cannot be undone.
          </p>
        </ActionDialog>
      )}
    </details>
  );
}
