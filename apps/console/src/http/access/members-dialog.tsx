import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { call } from '../../api/call.ts';
import { useMe } from '../../api/me.ts';
import { Copyable } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Select, TextField, useSettled } from '../../parts/field.tsx';
import { Form, SubmitButton } from '../../parts/form.tsx';
import { RemovalButton } from '../../parts/removal-button.tsx';
import { InlineFailure, Loading } from '../../parts/states.tsx';
import styles from './members-dialog.module.css';

interface Member<Role extends string> {
  user_id: string;
  name: string;
  role: Role | 'owner';
  accepted: boolean;
  /** Origin of the access, if this dialog can't change it. */
  note?: string;
}

interface MembersDialogProps<Role extends string> {
  title: string;
  /** Key of the query to invalidate after a change; the members are cached below it. */
  queryKey: readonly string[];
  /** Available roles; the first is the default. */
  roles: readonly [{ value: Role; label: string }, ...{ value: Role; label: string }[]];
  /** Reason why the caller can't share. */
  reason: string | undefined;
  list: (signal: AbortSignal) => Promise<readonly Member<Role>[]>;
  put: (userId: string, role: Role) => Promise<unknown>;
  remove: (userId: string) => Promise<unknown>;
  onClose: () => void;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns the ID of a user. Administrators may enter the name instead. */
export async function findUser(text: string): Promise<string> {
  if (uuid.test(text)) return text;
  const { users } = await call('GET /api/v2/users', { query: { search: text, limit: 1000 } });
  const found = users.find(({ name }) => name.toLowerCase() === text.toLowerCase());
  if (found === undefined) throw new Error(`There is no user “${text}”.`);
  return found.id;
}

/** Dialog of the users who have access to something, with their roles. */
export function MembersDialog<Role extends string>(props: MembersDialogProps<Role>) {
  const { title, queryKey, roles, reason, list, put, remove, onClose } = props;
  const queries = useQueryClient();
  const me = useMe();
  const { data, error: readError } = useQuery({
    queryKey: [...queryKey, 'members'],
    queryFn: ({ signal }) => list(signal),
  });
  const [error, setError] = useState<unknown>(null);
  const change = async (work: () => Promise<unknown>): Promise<void> => {
    setError(null);
    await work().catch(setError);
    await queries.invalidateQueries({ queryKey });
  };
  const drop = async (userId: string): Promise<void> => {
    await remove(userId);
    await queries.invalidateQueries({ queryKey });
  };
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      {(error ?? readError) !== null && <InlineFailure error={error ?? readError} />}
      {data === undefined && readError === null && <Loading rows={3} />}
      <ul>
        {data?.map((member) => (
          <li key={member.user_id} className={styles['member']}>
            <span>
              {member.name}
              {!member.accepted && <span className={styles['waiting']}> waiting</span>}
            </span>
            <MemberRole
              member={member}
              roles={roles}
              isFixed={reason !== undefined}
              onRole={(role) => void change(() => put(member.user_id, role))}
              onRemove={() => drop(member.user_id)}
            />
          </li>
        ))}
      </ul>
      {reason === undefined ? (
        <AddMember roles={roles} onAdd={(who, role) => change(async () => put(await findUser(who), role))} />
      ) : (
        <p className={styles['quiet']}>{reason}</p>
      )}
      {me !== undefined && (
        <p className={styles['quiet']}>
          Your user ID: <Copyable text={me.user.id} label="Copy your user ID" />
        </p>
      )}
    </Dialog>
  );
}

interface MemberRoleProps<Role extends string> extends Pick<MembersDialogProps<Role>, 'roles'> {
  member: Member<Role>;
  isFixed: boolean;
  onRole: (role: Role) => void;
  onRemove: () => Promise<unknown>;
}

function MemberRole<Role extends string>({
  member,
  roles,
  isFixed,
  onRole,
  onRemove,
}: MemberRoleProps<Role>) {
  const { name, role, note } = member;
  if (role === 'owner') return 'owner';
  const label = roles.find(({ value }) => value === role)?.label;
  if (note !== undefined) return `${label}, ${note}`;
  if (isFixed) return label;
  return (
    <>
      <Select label={`What ${name} may do`} value={role} options={roles} onChange={onRole} />
      <RemovalButton action="Remove" name={name} label={`Remove ${name}`} onRemove={onRemove}>
        <p>{name} can no longer see or use it, until you share it again.</p>
      </RemovalButton>
    </>
  );
}

interface AddMemberProps<Role extends string> extends Pick<MembersDialogProps<Role>, 'roles'> {
  onAdd: (who: string, role: Role) => Promise<void>;
}

function AddMember<Role extends string>({ roles, onAdd }: AddMemberProps<Role>) {
  const me = useMe();
  const [who, setWho] = useState('');
  const [role, setRole] = useState(roles[0].value);
  const isAdministrator = me?.user.role === 'admin' && me.token.scopes.includes('admin');
  const names = useUserNames(who.trim(), isAdministrator);
  return (
    <Form className={styles['add']} onAct={() => onAdd(who.trim(), role).then(() => setWho(''))}>
      <TextField
        label={isAdministrator ? 'User name' : 'User ID'}
        hint={
          isAdministrator ? undefined : 'Ask them for it. Each of their Share dialogs shows it at the bottom.'
        }
        value={who}
        onChange={setWho}
        suggestions={names}
      />
      <Select label="Role" value={role} options={roles} onChange={setRole} />
      <SubmitButton look="primary" reason={who.trim() === '' ? 'Enter a user.' : undefined}>
        Share
      </SubmitButton>
    </Form>
  );
}

const maxSuggested = 10;

/** Returns user names that contain the text; only administrators may list users. */
function useUserNames(text: string, isAdministrator: boolean): readonly string[] | undefined {
  const search = useSettled(text);
  const { data } = useQuery({
    queryKey: ['users', 'names', search],
    enabled: isAdministrator,
    queryFn: async ({ signal }) => {
      const query = { limit: maxSuggested, ...(search !== '' && { search }) };
      const { users } = await call('GET /api/v2/users', { query }, { signal });
      return users.map(({ name }) => name);
    },
    placeholderData: keepPreviousData,
  });
  return data;
}
