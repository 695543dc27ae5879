import { useState, type ReactNode } from 'react';

import { Button } from './button.tsx';
import { ActionDialog } from './dialog.tsx';
import { InlineFailure } from './states.tsx';

interface RemovalButtonProps {
  /** Verb on the button and in the question. */
  action?: 'Delete' | 'Remove' | 'Revoke' | 'Refuse';
  /** Name of the object in the question, such as `the schedule “nightly”`. */
  name: string;
  /** Accessible name where several buttons stand in one list. Default: the verb. */
  label?: string;
  /** Reason why the button is disabled. */
  reason?: string | undefined;
  /** Consequences of the removal. */
  children: ReactNode;
  /** Removes the object and invalidates the lists with it. On failure, the question stays open with the error. */
  onRemove: () => Promise<unknown>;
}

/** Button that removes something after a confirmation, which names the consequences. */
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

/** Confirmation without the button, for other triggers. */
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
