import { useState, type ReactNode } from 'react';

import { Button } from './button.tsx';
import { ActionDialog } from './dialog.tsx';
import { InlineFailure } from './states.tsx';

interface RemovalButtonProps {
  /** The word on the button and in the question. */
  action?: 'Delete' | 'Remove' | 'Revoke' | 'Refuse';
  /** How the question calls it, such as `the schedule “nightly”`. */
  name: string;
  /** Its name for screen readers where many stand in one list; by default the word on the button. */
  label?: string;
  /** Why it can't be used now. */
  reason?: string | undefined;
  /** The consequences. */
  children: ReactNode;
  /** Removes it, and reads the lists that had it anew. The question stays open with the error when it fails. */
  onRemove: () => Promise<unknown>;
}

/** The way to take something away: each asks first, and says what that means. */
export function RemovalButton({ action = 'Delete', label, reason, ...question }: RemovalButtonProps) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button look="quiet" reason={reason} aria-label={label} onClick={() => setAsking(true)}>
        {action}…
      </Button>
      {isAsking && <RemovalDialog {...question} action={action} onClose={() => setAsking(false)} />}
    </>
  );
}

interface RemovalDialogProps extends Pick<RemovalButtonProps, 'name' | 'children' | 'onRemove'> {
  action?: NonNullable<RemovalButtonProps['action']>;
  onClose: () => void;
}

/** The question alone, where something else than a `RemovalButton` asks it. */
export function RemovalDialog({ action = 'Delete', name, children, onRemove, onClose }: RemovalDialogProps) {
  const [error, setError] = useState<unknown>(null);
  const remove = async (): Promise<void> => {
    try {
      await onRemove();
      onClose();
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <ActionDialog title={`${action} ${name}?`} action={action} look="danger" onAct={remove} onClose={onClose}>
      {children}
      {error !== null && <InlineFailure error={error} />}
    </ActionDialog>
  );
}
