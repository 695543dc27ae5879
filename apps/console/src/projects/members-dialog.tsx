import type { Project, ProjectMember } from '@phalanx/protocol';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { call } from '../api/call.ts';
import { useMe, useMissingScope } from '../api/me.ts';
import { Button } from '../parts/button.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field, Input, Select } from '../parts/field.tsx';
import { InlineFailure, Loading } from '../parts/states.tsx';
import styles from './project.module.css';

const roles = [
  { value: 'shared_editor', label: 'may edit and launch' },
  { value: 'shared_viewer', label: 'may look' },
] as const;
type Role = (typeof roles)[number]['value'];

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The ID of a user; administrators may say the name. */
async function findUser(text: string): Promise<string> {
  if (uuid.test(text)) return text;
  const { users } = await call('GET /api/v2/users', { query: { search: text, limit: 1000 } });
  const found = users.find(({ name }) => name.toLowerCase() === text.toLowerCase());
  if (found === undefined) throw new Error(`There is no user “${text}”.`);
  return found.id;
}

export function MembersDialog({ project, onClose }: { project: Project; onClose: () => void }) {
  const queries = useQueryClient();
  const me = useMe();
  const missing = useMissingScope('edit');
  const reason = missing ?? (project.role === 'owner' ? undefined : 'Only the owner shares a project.');
  const id = project.id;
  const { data, error: readError } = useQuery({
    queryKey: ['project', id, 'members'],
    queryFn: async ({ signal }) =>
      (
        await call(
          'GET /api/v2/automation-project/:id/members',
          { params: { id }, query: { limit: 1000 } },
          { signal },
        )
      ).members,
  });
  const [who, setWho] = useState('');
  const [role, setRole] = useState<Role>('shared_editor');
  const [error, setError] = useState<unknown>(null);
  const change = async (work: () => Promise<unknown>): Promise<void> => {
    setError(null);
    try {
      await work();
      setWho('');
    } catch (failure) {
      setError(failure);
    }
    await queries.invalidateQueries({ queryKey: ['project', id] });
  };
  const put = (userId: string, wanted: Role) =>
    call('PUT /api/v2/automation-project/:id/members/:user_id', {
      params: { id, user_id: userId },
      body: { role: wanted },
    });
  const isAdministrator = me?.user.role === 'admin' && me.token.scopes.includes('admin');
  return (
    <Dialog title={`Share ${project.name}`} isOpen onClose={onClose}>
      {(error ?? readError) !== null && <InlineFailure error={error ?? readError} />}
      {data === undefined && readError === null && <Loading rows={3} />}
      <ul>
        {data?.map((member) => (
          <Member
            key={member.user_id}
            member={member}
            reason={reason}
            onRole={(wanted) => void change(() => put(member.user_id, wanted))}
            onRemove={() =>
              void change(() =>
                call('DELETE /api/v2/automation-project/:id/members/:user_id', {
                  params: { id, user_id: member.user_id },
                }),
              )
            }
          />
        ))}
      </ul>
      {reason === undefined && (
        <div className={styles['addMember']}>
          <Field
            label={isAdministrator ? 'User name' : 'User ID'}
            hint={isAdministrator ? undefined : 'Ask them for it: it is below, in their own Share dialog.'}
          >
            {(attributes) => (
              <Input {...attributes} value={who} onChange={({ target }) => setWho(target.value)} />
            )}
          </Field>
          <Select label="Role" value={role} options={roles} onChange={setRole} />
          <Button
            look="primary"
            reason={who.trim() === '' ? 'Say who.' : undefined}
            onClick={() => void change(async () => put(await findUser(who.trim()), role))}
          >
            Share
          </Button>
        </div>
      )}
      {me !== undefined && (
        <p className={styles['hunk']}>
          Your user ID: <code>{me.user.id}</code> <CopyButton text={me.user.id} label="Copy your user ID" />
        </p>
      )}
    </Dialog>
  );
}

interface MemberProps {
  member: ProjectMember;
  reason: string | undefined;
  onRole: (role: Role) => void;
  onRemove: () => void;
}

const Member = ({ member: { name, role }, reason, onRole, onRemove }: MemberProps) => (
  <li className={styles['member']}>
    <span>{name}</span>
    {role === 'owner' ? (
      'owner'
    ) : reason === undefined ? (
      <>
        <Select label={`What ${name} may do`} value={role} options={roles} onChange={onRole} />
        <Button look="quiet" onClick={onRemove}>
          Remove
        </Button>
      </>
    ) : (
      roles.find(({ value }) => value === role)?.label
    )}
  </li>
);
