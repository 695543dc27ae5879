import type { Project } from '@phalanx/protocol';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { call } from '../api/call.ts';
import { ActionDialog } from '../parts/dialog.tsx';
import { TextField } from '../parts/field.tsx';
import { notify } from '../parts/notices.tsx';
import { messageOf } from '../parts/states.tsx';

interface ChangeProjectProps {
  project: Project;
  onClose: () => void;
}

export function RenameProject({ project, onClose }: ChangeProjectProps) {
  const queries = useQueryClient();
  const [name, setName] = useState(project.name);
  const [problem, setProblem] = useState<string>();
  const rename = async (): Promise<void> => {
    try {
      await call('PATCH /api/v2/automation-project/:id', {
        params: { id: project.id },
        body: { name: name.trim() },
      });
      await queries.invalidateQueries({ queryKey: ['project', project.id] });
      await queries.invalidateQueries({ queryKey: ['projects'] });
      onClose();
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <ActionDialog
      title="Rename the project"
      onClose={onClose}
      action="Rename"
      reason={name.trim() === '' || name.trim() === project.name ? 'Type another name.' : undefined}
      onAct={rename}
    >
      <TextField label="Name" problem={problem} value={name} onChange={setName} />
    </ActionDialog>
  );
}

export function DeleteProject({ project, onClose }: ChangeProjectProps) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  const [problem, setProblem] = useState<string>();
  const remove = async (): Promise<void> => {
    try {
      await call('DELETE /api/v2/automation-project/:id', { params: { id: project.id } });
      notify(`${project.name} was deleted`);
      await navigate({ to: '/projects' });
      await queries.invalidateQueries({ queryKey: ['projects'] });
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <ActionDialog
      title={`Delete ${project.name}?`}
      onClose={onClose}
      action="Delete"
      look="danger"
      reason={typed === project.name ? undefined : 'Type the name of the project.'}
      onAct={remove}
    >
      <p>Its files, its history and its records are deleted. This cannot be undone.</p>
      <TextField label={`Type ${project.name}`} problem={problem} value={typed} onChange={setTyped} />
    </ActionDialog>
  );
}
