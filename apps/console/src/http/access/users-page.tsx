import type { User } from '@phalanx/protocol';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { readAll } from '@phalanx/client/read-all';
import { call } from '../../api/call.ts';
import { useMe } from '../../api/me.ts';
import { Button } from '../../parts/button.tsx';
import { ActionDialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { notify, notifyFailure } from '../../parts/notices.tsx';
import { Empty, InlineFailure, Loading, messageOf } from '../../parts/states.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Moment } from '../../parts/time.tsx';
import { SecretDialog } from './secret-dialog.tsx';
import { SettingsPage, useIsAdministrator } from './settings-page.tsx';
import styles from './settings.module.css';

export function UsersPage() {
  const isAdministrator = useIsAdministrator();
  if (isAdministrator) return <AllUsers />;
  return (
    <SettingsPage part="Users">
      <Empty title="Only administrators see the users">
        Sign in with a token of an administrator that has the scope “admin”.
      </Empty>
    </SettingsPage>
  );
}

function AllUsers() {
  const [isOpen, setOpen] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: ['users'],
    queryFn: ({ signal }) =>
      readAll(
        (query) => call('GET /api/v2/users', { query }, { signal }),
        ({ users }) => users,
      ),
  });
  return (
    <SettingsPage
      part="Users"
      actions={
        <Button look="primary" onClick={() => setOpen(true)}>
          New user…
        </Button>
      }
    >
      {error !== null && <InlineFailure error={error} onRetry={() => void refetch()} />}
      {data === undefined ? <Loading rows={3} /> : <UserTable users={data} />}
      {isOpen && <NewUser onClose={() => setOpen(false)} />}
    </SettingsPage>
  );
}

const columns: readonly Column<User>[] = [
  { header: 'Name', width: 'grow', isMain: true, text: ({ name }) => name },
  {
    header: 'Role',
    width: 'fit',
    text: ({ role, disabled_at: disabledAt }) =>
      `${role === 'admin' ? 'administrator' : 'user'}${disabledAt === null ? '' : ', disabled'}`,
  },
  { header: 'Since', width: 'fit', content: ({ created_at: at }) => <Moment at={at} /> },
];

function UserTable({ users }: { users: readonly User[] }) {
  const own = useMe()?.user.id;
  const [changing, setChanging] = useState<{ user: User; what: 'rename' | 'delete' }>();
  const close = (): void => setChanging(undefined);
  const update = useUserUpdate();
  return (
    <>
      <Table
        label="Users"
        columns={columns}
        rows={users}
        keyOf={({ id }) => id}
        actions={(user) => (
          <>
            <Button
              look="quiet"
              aria-label={`Rename ${user.name}`}
              onClick={() => setChanging({ user, what: 'rename' })}
            >
              Rename…
            </Button>
            {user.id === own ? (
              <span className={styles['quiet']}>you</span>
            ) : (
              <OtherUser user={user} update={update} setChanging={setChanging} />
            )}
          </>
        )}
      />
      {changing?.what === 'rename' && <RenameUser user={changing.user} onClose={close} />}
      {changing?.what === 'delete' && <DeleteUser user={changing.user} onClose={close} />}
    </>
  );
}

type Update = ReturnType<typeof useUserUpdate>;

function useUserUpdate() {
  const queries = useQueryClient();
  return async (
    { id }: User,
    body: { disabled?: boolean; role?: User['role'] },
    said: string,
  ): Promise<void> => {
    try {
      await call('PATCH /api/v2/users/:id', { params: { id }, body });
      notify(said);
    } catch (error) {
      notifyFailure('Nothing was changed', error);
    }
    await queries.invalidateQueries({ queryKey: ['users'] });
  };
}

interface OtherUserProps {
  user: User;
  update: Update;
  setChanging: (change: { user: User; what: 'delete' }) => void;
}

/** Actions of an administrator on another user. */
function OtherUser({ user, update, setChanging }: OtherUserProps) {
  const { name, role } = user;
  const isDisabled = user.disabled_at !== null;
  const isAdministrator = role === 'admin';
  return (
    <>
      <Button
        look="quiet"
        onClick={() =>
          void update(
            user,
            { role: isAdministrator ? 'user' : 'admin' },
            isAdministrator ? `${name} is no longer an administrator` : `${name} is now an administrator`,
          )
        }
      >
        {isAdministrator ? 'Make user' : 'Make administrator'}
      </Button>
      <Button
        look="quiet"
        onClick={() =>
          void update(
            user,
            { disabled: !isDisabled },
            isDisabled ? `${name} can sign in again` : `${name} can no longer sign in`,
          )
        }
      >
        {isDisabled ? 'Enable' : 'Disable'}
      </Button>
      <Button
        look="quiet"
        aria-label={`Delete ${name}`}
        onClick={() => setChanging({ user, what: 'delete' })}
      >
        Delete…
      </Button>
    </>
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
      <SecretDialog title={`${name} can sign in`} secret={secret} onClose={onClose}>
        Give them this token to sign in. It is shown only once.
      </SecretDialog>
    );
  return (
    <ActionDialog
      title="New user"
      onClose={onClose}
      action="Create"
      reason={name.trim() === '' ? 'Enter a name.' : undefined}
      onAct={create}
    >
      <TextField
        label="Name"
        hint="The user gets a token, which you hand over."
        value={name}
        onChange={setName}
      />
      {error !== null && <InlineFailure error={error} />}
    </ActionDialog>
  );
}

interface ChangeUserProps {
  user: User;
  onClose: () => void;
}

function RenameUser({ user, onClose }: ChangeUserProps) {
  const queries = useQueryClient();
  const [name, setName] = useState(user.name);
  const [problem, setProblem] = useState<string>();
  const rename = async (): Promise<void> => {
    try {
      await call('PATCH /api/v2/users/:id', { params: { id: user.id }, body: { name: name.trim() } });
      await queries.invalidateQueries({ queryKey: ['users'] });
      await queries.invalidateQueries({ queryKey: ['me'] });
      onClose();
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <ActionDialog
      title={`Rename ${user.name}`}
      onClose={onClose}
      action="Rename"
      reason={name.trim() === '' || name.trim() === user.name ? 'Enter a new name.' : undefined}
      onAct={rename}
    >
      <TextField label="Name" problem={problem} value={name} onChange={setName} />
    </ActionDialog>
  );
}

function DeleteUser({ user, onClose }: ChangeUserProps) {
  const queries = useQueryClient();
  const [hasProjects, setHasProjects] = useState(false);
  const [typed, setTyped] = useState('');
  const [problem, setProblem] = useState<string>();
  const remove = async (): Promise<void> => {
    try {
      const query = hasProjects ? { projects: 'delete' as const } : {};
      await call('DELETE /api/v2/users/:id', { params: { id: user.id }, query });
      notify(`${user.name} was deleted`);
      await queries.invalidateQueries({ queryKey: ['users'] });
      onClose();
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <ActionDialog
      title={`Delete ${user.name}?`}
      onClose={onClose}
      action="Delete"
      look="danger"
      reason={typed === user.name ? undefined : 'Type the name of the user.'}
      onAct={remove}
    >
      <p>Their tokens, phones, runs and records are deleted. This cannot be undone.</p>
      <label>
        <input
          type="checkbox"
          checked={hasProjects}
          onChange={({ target }) => setHasProjects(target.checked)}
        />{' '}
        Delete their projects too
      </label>
      <TextField label={`Type ${user.name}`} problem={problem} value={typed} onChange={setTyped} />
    </ActionDialog>
  );
}
