import guide from '@phalanx/automation/starter/AGENTS.md?raw';
import code from '@phalanx/automation/starter/main.ts?raw';
import schema from '@phalanx/automation/starter/parameters.schema.json?raw';
import settings from '@phalanx/automation/starter/tsconfig?raw';
import { useQueryClient, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Project } from '@phalanx/protocol';

import { call } from '../../api/call.ts';
import { ActionDialog, Dialog } from '../../parts/dialog.tsx';
import { TextField, Field, Input } from '../../parts/field.tsx';
import { messageOf, InlineFailure, Loading } from '../../parts/states.tsx';
import { notify } from '../../parts/notices.tsx';
import { storeSecrets } from './store-secrets.ts';
import { Button } from '../../parts/button.tsx';
import { SubmitButton } from '../../parts/form.tsx';
import { RemovalButton } from '../../parts/removal-button.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Moment } from '../../parts/time.tsx';

/** Files of a new project: those of `phalanx project create` except the ones that only a local folder needs. */
const starter = [
  { path: 'AGENTS.md', content: guide },
  { path: 'main.ts', content: code },
  { path: 'parameters.schema.json', content: schema },
  { path: 'tsconfig.json', content: settings },
];

/** Creates a project with the starter files or with the given `main.ts`. Returns its ID. */
export async function createStarter(name: string, main = code): Promise<string> {
  const { project } = await call('POST /api/v2/automation-project', { body: { name } });
  const params = { id: project.id };
  const { etag } = await call('GET /api/v2/automation/files/:id', { params });
  const files = starter.map((file) => (file.path === 'main.ts' ? { ...file, content: main } : file));
  const body = { files, deleted: [], expected_etag: etag };
  await call('PUT /api/v2/automation/files/:id', { params, body });
  return project.id;
}

interface NewProjectProps {
  /** Code of `main.ts`. Default: code that runs on any phone. */
  main?: string;
  /** Passwords to store as secrets, by their names in the code. */
  secrets?: ReadonlyMap<string, string>;
  onClose: () => void;
}

export function NewProject({ main, secrets, onClose }: NewProjectProps) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [problem, setProblem] = useState<string>();
  const [isStoring, setStoring] = useState(true);
  const create = async (): Promise<void> => {
    try {
      const projectId = await createStarter(name.trim(), main);
      if (secrets !== undefined && isStoring) await storeSecrets(projectId, secrets);
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
      reason={name.trim() === '' ? 'Enter a name.' : undefined}
      onAct={create}
    >
      <TextField
        label="Name"
        hint={
          main === undefined
            ? 'Starts with a main.ts that runs on any phone.'
            : 'Its main.ts contains the recorded code.'
        }
        problem={problem}
        value={name}
        onChange={setName}
      />
      {secrets !== undefined && secrets.size > 0 && (
        <label>
          <input type="checkbox" checked={isStoring} onChange={({ target }) => setStoring(target.checked)} />{' '}
          Store the typed passwords as secrets of the project: {[...secrets.keys()].join(', ')}
        </label>
      )}
    </ActionDialog>
  );
}

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
      reason={name.trim() === '' || name.trim() === project.name ? 'Enter a new name.' : undefined}
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

interface SecretsDialogProps {
  projectId: string;
  /** Reason why secrets can't be changed. */
  reason: string | undefined;
  /** Opens the dialog of users whose hosts receive the secrets. */
  onHosts: () => void;
  onClose: () => void;
}

/** Dialog of a project's secrets. Values are write-only. */
export function SecretsDialog({ projectId, reason, onHosts, onClose }: SecretsDialogProps) {
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
      await storeSecrets(projectId, new Map([[name.trim(), value]]));
      setName('');
      setValue('');
    });
  const remove = async (secret: string): Promise<void> => {
    const params = { id: projectId, name: secret };
    await call('DELETE /api/v2/automation-project/:id/secrets/:name', { params });
    await queries.invalidateQueries({ queryKey });
  };
  const missing = name.trim() === '' || value === '' ? 'Enter a name and a value.' : undefined;
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
          <Button look="quiet" onClick={onHosts}>
            Hosts…
          </Button>
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
        <SecretTable secrets={secrets} reason={reason} onRemove={remove} />
      )}
      <TextField label="Name" hint="For example, SHOP_PASSWORD" value={name} onChange={setName} />
      <Field label="Value" hint="Runs that have already started keep the old value.">
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

interface Secret {
  readonly name: string;
  readonly version: number;
  readonly updated_at: number;
}

const secretColumns: readonly Column<Secret>[] = [
  { header: 'Name', width: 'grow', isMain: true, content: ({ name }) => <code>{name}</code> },
  { header: 'Version', width: 'fit', isNumber: true, text: ({ version }) => String(version) },
  { header: 'Changed', width: 'fit', content: ({ updated_at: at }) => <Moment at={at} /> },
];

interface SecretTableProps {
  secrets: readonly Secret[];
  reason: string | undefined;
  onRemove: (name: string) => Promise<void>;
}

const SecretTable = ({ secrets, reason, onRemove }: SecretTableProps) =>
  secrets.length === 0 ? (
    <p>This project has no secrets yet.</p>
  ) : (
    <Table
      label="Secrets of the project"
      columns={secretColumns}
      rows={secrets}
      keyOf={({ name }) => name}
      actions={({ name }) => (
        <RemovalButton
          name={`the secret ${name}`}
          label={`Delete ${name}`}
          reason={reason}
          onRemove={() => onRemove(name)}
        >
          <p>Later runs that read it fail. Its value cannot be shown or restored.</p>
        </RemovalButton>
      )}
    />
  );
