import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { SettingsTable } from '../access/settings-table.tsx';
import { call } from '../api/call.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field, Input, TextField } from '../parts/field.tsx';
import { SubmitButton } from '../parts/form.tsx';
import { InlineFailure, Loading } from '../parts/states.tsx';
import { Moment } from '../parts/time.tsx';

interface SecretsDialogProps {
  projectId: string;
  /** Why nothing can be changed. */
  reason: string | undefined;
  onClose: () => void;
}

/** Names of a project's secrets. Values are written here, and never read. */
export function SecretsDialog({ projectId, reason, onClose }: SecretsDialogProps) {
  const queries = useQueryClient();
  const queryKey = ['project', projectId, 'secrets'];
  const { data: secrets, error } = useQuery({
    queryKey,
    queryFn: async ({ signal }) =>
      (await call('GET /api/v2/automation-project/:id/secrets', { params: { id: projectId } }, { signal }))
        .secrets,
  });
  const [name, setName] = useState('');
  const [value, setValue] = useState('');
  const [failure, setFailure] = useState<unknown>(null);
  const change = async (work: () => Promise<unknown>): Promise<void> => {
    setFailure(null);
    try {
      await work();
    } catch (problem) {
      setFailure(problem);
      return;
    }
    await queries.invalidateQueries({ queryKey });
  };
  const save = (): Promise<void> =>
    change(async () => {
      const params = { id: projectId, name: name.trim() };
      await call('PUT /api/v2/automation-project/:id/secrets/:name', { params, body: { value } });
      setName('');
      setValue('');
    });
  const remove = (secret: string): Promise<void> =>
    change(() =>
      call('DELETE /api/v2/automation-project/:id/secrets/:name', {
        params: { id: projectId, name: secret },
      }),
    );
  const missing = name.trim() === '' || value === '' ? 'A secret has a name and a value.' : undefined;
  const isKnown = secrets?.some((secret) => secret.name === name.trim()) === true;
  return (
    <Dialog
      title="Secrets"
      isOpen
      isWide
      onClose={onClose}
      onAct={save}
      foot={
        <>
          <Button onClick={onClose}>Close</Button>
          <SubmitButton look="primary" reason={reason ?? missing}>
            {isKnown ? 'Replace' : 'Add'}
          </SubmitButton>
        </>
      }
    >
      <p>
        Automations read a value by <code>await agent.secrets.get('NAME')</code>. The console never shows it.
        People who run a phone’s host, or who may edit this project, can still obtain it.
      </p>
      {secrets === undefined ? (
        error === null && <Loading rows={2} />
      ) : (
        <SecretTable secrets={secrets} reason={reason} onRemove={(secret) => void remove(secret)} />
      )}
      <TextField label="Name" hint="Such as SHOP_PASSWORD" value={name} onChange={setName} />
      <Field label="Value" hint="Runs that have begun keep the value of their launch.">
        {(attributes) => (
          <Input
            {...attributes}
            type="password"
            autoComplete="new-password"
            value={value}
            onChange={({ target }) => setValue(target.value)}
          />
        )}
      </Field>
      {(failure ?? error) !== null && <InlineFailure error={failure ?? error} />}
    </Dialog>
  );
}

interface SecretTableProps {
  secrets: readonly { name: string; version: number; updated_at: number }[];
  reason: string | undefined;
  onRemove: (name: string) => void;
}

const SecretTable = ({ secrets, reason, onRemove }: SecretTableProps) =>
  secrets.length === 0 ? (
    <p>This project has no secrets yet.</p>
  ) : (
    <SettingsTable label="Secrets of the project" columns={['Name', 'Version', 'Changed']} hasActions>
      {secrets.map(({ name, version, updated_at: changedAt }) => (
        <tr key={name}>
          <td>
            <code>{name}</code>
          </td>
          <td>{version}</td>
          <td>
            <Moment at={changedAt} />
          </td>
          <td>
            <Button look="quiet" reason={reason} aria-label={`Delete ${name}`} onClick={() => onRemove(name)}>
              Delete
            </Button>
          </td>
        </tr>
      ))}
    </SettingsTable>
  );
