import { secretLength } from '@phalanx/protocol';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { Button } from '../../../parts/button.tsx';
import { notify } from '../../../parts/notices.tsx';
import { InlineFailure } from '../../../parts/states.tsx';
import { storeSecrets } from '../store-secrets.ts';

interface TypedSecretsProps {
  projectId: string;
  /** Typed passwords, by their names in the recorded code. */
  secrets: ReadonlyMap<string, string>;
  /** Reason why secrets can't be stored. */
  reason: string | undefined;
  onStored: () => void;
}

/** Offers to store the passwords typed during a recording; the recorded code contains only their names. */
export function TypedSecrets({ projectId, secrets, reason, onStored }: TypedSecretsProps) {
  const queries = useQueryClient();
  const [error, setError] = useState<unknown>(null);
  const names = [...secrets.keys()].join(', ');
  const isShort = [...secrets.values()].some((value) => value.length < secretLength.min);
  const store = async (): Promise<void> => {
    try {
      await storeSecrets(projectId, secrets);
      notify(`Stored as secrets of the project: ${names}`);
      await queries.invalidateQueries({ queryKey: ['project', projectId, 'secrets'] });
      onStored();
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <>
      <p>
        The code types {names} by name and does not contain the value. The run needs it as a secret of the
        project.
      </p>
      <Button
        reason={reason ?? (isShort ? `A secret has at least ${secretLength.min} characters.` : undefined)}
        onClick={() => void store()}
      >
        Store {names}
      </Button>
      {error !== null && <InlineFailure error={error} />}
    </>
  );
}
