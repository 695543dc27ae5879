import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { call } from '../api/call.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field, Input } from '../parts/field.tsx';
import { messageOf } from '../parts/states.tsx';
import { starterCode } from './starter.ts';

/** A project with a first file that runs. Returns its ID. */
export async function createStarter(name: string): Promise<string> {
  const { project } = await call('POST /api/v2/automation-project', { body: { name } });
  const body = { path: 'main.ts', content: starterCode };
  await call('PUT /api/v2/automation/file/:id', { params: { id: project.id }, body });
  return project.id;
}

export function NewProject({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const create = async (): Promise<void> => {
    setBusy(true);
    try {
      const projectId = await createStarter(name.trim());
      await queries.invalidateQueries({ queryKey: ['projects'] });
      await navigate({ to: '/projects/$projectId', params: { projectId } });
    } catch (error) {
      setProblem(messageOf(error));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title="New project"
      isOpen
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="primary"
            isBusy={isBusy}
            reason={name.trim() === '' ? 'Give it a name.' : undefined}
            onClick={() => void create()}
          >
            Create
          </Button>
        </>
      }
    >
      <Field label="Name" hint="It begins with a main.ts that runs on any phone." problem={problem}>
        {(attributes) => (
          <Input
            {...attributes}
            value={name}
            onChange={({ target }) => setName(target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && name.trim() !== '') void create();
            }}
          />
        )}
      </Field>
    </Dialog>
  );
}
