import type { User } from '@phalanx/protocol';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { call } from '../api/call.ts';
import { ActionDialog } from '../parts/dialog.tsx';
import { TextField } from '../parts/field.tsx';
import { notify } from '../parts/notices.tsx';
import { messageOf } from '../parts/states.tsx';

interface ChangeUserProps {
  user: User;
  onClose: () => void;
}

export function RenameUser({ user, onClose }: ChangeUserProps) {
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
      reason={name.trim() === '' || name.trim() === user.name ? 'Type another name.' : undefined}
      onAct={rename}
    >
      <TextField label="Name" problem={problem} value={name} onChange={setName} />
    </ActionDialog>
  );
}

export function DeleteUser({ user, onClose }: ChangeUserProps) {
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
