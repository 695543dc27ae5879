import guide from '@phalanx/automation/starter/AGENTS.md?raw';
import code from '@phalanx/automation/starter/main.ts?raw';
import schema from '@phalanx/automation/starter/parameters.schema.json?raw';
import settings from '@phalanx/automation/starter/tsconfig?raw';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { call } from '../api/call.ts';
import { ActionDialog } from '../parts/dialog.tsx';
import { TextField } from '../parts/field.tsx';
import { messageOf } from '../parts/states.tsx';

/** What `phalanx project create` begins with, but for what only a folder needs. */
const starter = [
  { path: 'AGENTS.md', content: guide },
  { path: 'main.ts', content: code },
  { path: 'parameters.schema.json', content: schema },
  { path: 'tsconfig.json', content: settings },
];

/** A project with code that runs, or with this `main.ts`. Returns its ID. */
export async function createStarter(name: string, main = code): Promise<string> {
  const { project } = await call('POST /api/v2/automation-project', { body: { name } });
  const params = { id: project.id };
  const { etag } = await call('GET /api/v2/automation/files/:id', { params });
  const files = starter.map((file) => (file.path === 'main.ts' ? { ...file, content: main } : file));
  const body = { files, deleted: [], expected_etag: etag };
  await call('PUT /api/v2/automation/files/:id', { params, body });
  return project.id;
}

export function NewProject({ main, onClose }: { main?: string; onClose: () => void }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [problem, setProblem] = useState<string>();
  const create = async (): Promise<void> => {
    try {
      const projectId = await createStarter(name.trim(), main);
      await queries.invalidateQueries({ queryKey: ['projects'] });
      await navigate({ to: '/projects/$projectId', params: { projectId } });
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <ActionDialog
      title="New project"
      onClose={onClose}
      action="Create"
      reason={name.trim() === '' ? 'Give it a name.' : undefined}
      onAct={create}
    >
      <TextField
        label="Name"
        hint={
          main === undefined
            ? 'It begins with a main.ts that runs on any phone.'
            : 'Its main.ts is the recorded code.'
        }
        problem={problem}
        value={name}
        onChange={setName}
      />
    </ActionDialog>
  );
}
