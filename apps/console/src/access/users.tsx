import type { User } from '@phalanx/protocol';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { call } from '../api/call.ts';
import { useMe } from '../api/me.ts';
import { readAll } from '../api/read-all.ts';
import { Button } from '../parts/button.tsx';
import { ActionDialog } from '../parts/dialog.tsx';
import { TextField } from '../parts/field.tsx';
import { notify, notifyFailure } from '../parts/notices.tsx';
import { InlineFailure, Loading } from '../parts/states.tsx';
import { Moment } from '../parts/time.tsx';
import { SecretDialog } from './secret-dialog.tsx';
import { SettingsTable } from './settings-table.tsx';
import styles from './settings.module.css';

/** For administrators. */
export function Users() {
  const [isOpen, setOpen] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: ['users'],
    queryFn: ({ signal }) =>
      readAll(async (cursor) => {
        const query = { limit: 1000, ...(cursor === undefined ? {} : { cursor }) };
        const { users, next_cursor: next } = await call('GET /api/v2/users', { query }, { signal });
        return { rows: users, next };
      }),
  });
  return (
    <section className={styles['section']}>
      <div className={styles['head']}>
        <h2>Users</h2>
        <Button onClick={() => setOpen(true)}>New user…</Button>
      </div>
      {error !== null && <InlineFailure error={error} onRetry={() => void refetch()} />}
      {data === undefined ? <Loading rows={3} /> : <UserTable users={data} />}
      {isOpen && <NewUser onClose={() => setOpen(false)} />}
    </section>
  );
}

function UserTable({ users }: { users: readonly User[] }) {
  const own = useMe()?.user.id;
  const queries = useQueryClient();
  const setDisabled = async ({ id, name }: User, disabled: boolean): Promise<void> => {
    try {
      await call('PATCH /api/v2/users/:id', { params: { id }, body: { disabled } });
      notify(disabled ? `${name} can no longer come in` : `${name} can come in again`);
    } catch (error) {
      notifyFailure('Nothing was changed', error);
    }
    await queries.invalidateQueries({ queryKey: ['users'] });
  };
  return (
    <SettingsTable label="Users" columns={['Name', 'Role', 'Since']} hasActions>
      {users.map((user) => (
        <tr key={user.id}>
          <td>{user.name}</td>
          <td className={styles['quiet']}>
            {user.role === 'admin' ? 'administrator' : 'user'}
            {user.disabled_at !== null && ', disabled'}
          </td>
          <td className={styles['quiet']}>
            <Moment at={user.created_at} />
          </td>
          <td className={styles['end']}>
            {user.id === own ? (
              <span className={styles['quiet']}>you</span>
            ) : (
              <Button look="quiet" onClick={() => void setDisabled(user, user.disabled_at === null)}>
                {user.disabled_at === null ? 'Disable' : 'Enable'}
              </Button>
            )}
          </td>
        </tr>
      ))}
    </SettingsTable>
  );
}

function NewUser({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [secret, setSecret] = useState<string>();
  const [error, setError] = useState<unknown>(null);
  const create = async (): Promise<void> => {
    try {
      const { user } = await call('POST /api/v2/users', { body: { name } });
      const body = { name: 'first token', user_id: user.id };
      setSecret((await call('POST /api/v2/tokens', { body })).secret);
    } catch (failure) {
      setError(failure);
    }
    await queries.invalidateQueries({ queryKey: ['users'] });
  };
  if (secret !== undefined)
    return (
      <SecretDialog title={`${name} can come in`} secret={secret} onClose={onClose}>
        Give them this token, with which they sign in. It is shown this once.
      </SecretDialog>
    );
  return (
    <ActionDialog
      title="New user"
      onClose={onClose}
      action="Create"
      reason={name.trim() === '' ? 'Give a name.' : undefined}
      onAct={create}
    >
      <TextField
        label="Name"
        hint="A user with a token of their own, which you hand over."
        value={name}
        onChange={setName}
      />
      {error !== null && <InlineFailure error={error} />}
    </ActionDialog>
  );
}
