import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { findUser } from '../../http/access/members-dialog.tsx';
import { readAll } from '@phalanx/client/read-all';
import { call } from '../../api/call.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { SubmitButton } from '../../parts/form.tsx';
import { RemovalButton } from '../../parts/removal-button.tsx';
import { InlineFailure, Loading } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Moment } from '../../parts/time.tsx';

interface Recipient {
  readonly user_id: string;
  readonly name: string;
  readonly added_at: number;
}

const recipientColumns: readonly Column<Recipient>[] = [
  { header: 'Name', width: 'grow', isMain: true, text: ({ name }) => name },
  { header: 'Added', width: 'fit', content: ({ added_at: at }) => <Moment at={at} /> },
];

interface SecretHostsProps {
  projectId: string;
  /** Reason why the list can't be changed. */
  reason: string | undefined;
  onClose: () => void;
}

/** Users whose hosts receive the secrets of a project, in addition to those of its owner and editors. */
export function SecretHosts({ projectId, reason, onClose }: SecretHostsProps) {
  const queries = useQueryClient();
  const queryKey = ['project', projectId, 'secret-recipients'];
  const { data: recipients, error } = useQuery({
    queryKey,
    queryFn: ({ signal }) =>
      readAll(
        (query) =>
          call(
            'GET /api/v2/automation-project/:id/secret-recipients',
            { params: { id: projectId }, query },
            { signal },
          ),
        (page) => page.recipients,
      ),
  });
  const [who, setWho] = useState('');
  const [failure, setFailure] = useState<unknown>(null);
  const change = async (work: () => Promise<unknown>): Promise<void> => {
    setFailure(null);
    await work().catch(setFailure);
    await queries.invalidateQueries({ queryKey });
  };
  const paramsOf = (userId: string) => ({ params: { id: projectId, user_id: userId } });
  const add = (): Promise<void> =>
    change(async () => {
      const userId = await findUser(who.trim());
      await call('PUT /api/v2/automation-project/:id/secret-recipients/:user_id', paramsOf(userId));
      setWho('');
    });
  const remove = async (userId: string): Promise<void> => {
    await call('DELETE /api/v2/automation-project/:id/secret-recipients/:user_id', paramsOf(userId));
    await queries.invalidateQueries({ queryKey });
  };
  return (
    <Dialog
      title="Hosts that receive the secrets"
      isOpen
      onClose={onClose}
      onAct={add}
      foot={
        <>
          <Button onClick={onClose}>Close</Button>
          <SubmitButton look="primary" reason={reason ?? (who.trim() === '' ? 'Enter a user.' : undefined)}>
            Add
          </SubmitButton>
        </>
      }
    >
      <p>
        Secrets go to the hosts of the owner and the editors of the project, and to those of the users here.
        On phones of other hosts, the project does not start while it has secrets.
      </p>
      {recipients === undefined && error === null && <Loading rows={2} />}
      {recipients?.length === 0 && <p>No other users.</p>}
      {recipients !== undefined && recipients.length > 0 && (
        <Table
          label="Users whose hosts receive the secrets"
          columns={recipientColumns}
          rows={recipients}
          keyOf={({ user_id: id }) => id}
          actions={({ user_id: id, name }) => (
            <RemovalButton
              action="Remove"
              name={name}
              label={`Remove ${name}`}
              reason={reason}
              onRemove={() => remove(id)}
            >
              <p>
                Their hosts no longer receive the secrets. Runs that have already started keep their values.
              </p>
            </RemovalButton>
          )}
        />
      )}
      <TextField
        label="User"
        hint="User ID. Administrators can also enter the name."
        value={who}
        onChange={setWho}
      />
      {(failure ?? error) !== null && <InlineFailure error={failure ?? error} />}
    </Dialog>
  );
}
