import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';

import { call } from '../api/call.ts';
import { IconButton } from '../parts/button.tsx';
import { ActionDialog } from '../parts/dialog.tsx';
import { TextField } from '../parts/field.tsx';
import { Icon } from '../parts/icon.tsx';
import { notify, notifyFailure } from '../parts/notices.tsx';
import { InlineFailure, Loading, messageOf } from '../parts/states.tsx';
import { FileTree } from './file-tree.tsx';
import styles from './project.module.css';
import { draftsQuery, filesQuery } from './queries.ts';

interface FileListProps {
  projectId: string;
  userId: string;
  current: string | undefined;
  /** Why files can't be changed. */
  reason: string | undefined;
  onOpen: (path: string) => void;
  /** On its edge. */
  children: ReactNode;
}

export function FileList({ projectId, userId, current, reason, onOpen, children }: FileListProps) {
  const { data, error, refetch } = useQuery(filesQuery(projectId));
  const { data: drafts = [] } = useQuery(draftsQuery(userId, projectId));
  const [isNew, setNew] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const [isRenaming, setRenaming] = useState(false);
  const isStored = data?.files.some(({ path, change }) => path === current && change !== 'deleted') === true;
  return (
    <section className={styles['files']} data-part="files" aria-label="Files">
      {children}
      <div className={styles['paneHead']}>
        <h2>Files</h2>
        {isStored && (
          <IconButton
            label={`Rename ${current}`}
            reason={reason ?? (drafts.includes(current ?? '') ? 'Save it first.' : undefined)}
            onClick={() => setRenaming(true)}
          >
            <Icon name="rename" size={14} />
          </IconButton>
        )}
        {isStored && (
          <IconButton label={`Delete ${current}`} reason={reason} onClick={() => setDeleting(true)}>
            <Icon name="trash" size={14} />
          </IconButton>
        )}
        <IconButton label="New file" reason={reason} onClick={() => setNew(true)}>
          <Icon name="plus" size={14} />
        </IconButton>
      </div>
      {error !== null && <InlineFailure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading rows={4} />}
      {data !== undefined && <FileTree files={data.files} {...{ current, drafts, onOpen }} />}
      {isNew && (
        <NewFile
          projectId={projectId}
          onClose={() => setNew(false)}
          onMade={(path) => {
            setNew(false);
            onOpen(path);
          }}
        />
      )}
      {isRenaming && current !== undefined && (
        <RenameFile
          projectId={projectId}
          path={current}
          onClose={() => setRenaming(false)}
          onRenamed={(path) => {
            setRenaming(false);
            onOpen(path);
          }}
        />
      )}
      {isDeleting && current !== undefined && (
        <DeleteFile projectId={projectId} path={current} onClose={() => setDeleting(false)} />
      )}
    </section>
  );
}

function NewFile({
  projectId,
  onClose,
  onMade,
}: {
  projectId: string;
  onClose: () => void;
  onMade: (path: string) => void;
}) {
  const queries = useQueryClient();
  const [path, setPath] = useState('');
  const [problem, setProblem] = useState<string>();
  const create = async (): Promise<void> => {
    try {
      const content = path.endsWith('.json') ? '{}\n' : '\n';
      const input = { params: { id: projectId }, body: { path: path.trim(), content } };
      await call('PUT /api/v2/automation/file/:id', { ...input, headers: { 'if-none-match': '*' } });
      await queries.invalidateQueries({ queryKey: ['files', projectId] });
      onMade(path.trim());
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <ActionDialog
      title="New file"
      onClose={onClose}
      action="Create"
      reason={path.trim() === '' ? 'Give it a path.' : undefined}
      onAct={create}
    >
      <TextField
        label="Path"
        hint="Such as flows/login.ts"
        problem={problem}
        value={path}
        onChange={setPath}
      />
    </ActionDialog>
  );
}

interface RenameFileProps {
  projectId: string;
  path: string;
  onClose: () => void;
  onRenamed: (path: string) => void;
}

function RenameFile({ projectId, path: before, onClose, onRenamed }: RenameFileProps) {
  const queries = useQueryClient();
  const [path, setPath] = useState(before);
  const [problem, setProblem] = useState<string>();
  const rename = async (): Promise<void> => {
    try {
      const body = { path: before, new_path: path.trim() };
      const { changed } = await call('POST /api/v2/automation/rename/:id', {
        params: { id: projectId },
        body,
      });
      notify(
        `${before} is now ${path.trim()}`,
        changed.length === 0 ? undefined : `Changed: ${changed.join(', ')}`,
      );
      await queries.invalidateQueries({ queryKey: ['files', projectId] });
      onRenamed(path.trim());
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <ActionDialog
      title={`Rename ${before}`}
      onClose={onClose}
      action="Rename"
      reason={path.trim() === '' || path.trim() === before ? 'Give it another path.' : undefined}
      onAct={rename}
    >
      <TextField
        label="Path"
        hint="Files that import it name it anew."
        problem={problem}
        value={path}
        onChange={setPath}
      />
    </ActionDialog>
  );
}

function DeleteFile({ projectId, path, onClose }: { projectId: string; path: string; onClose: () => void }) {
  const queries = useQueryClient();
  const remove = async (): Promise<void> => {
    try {
      await call('DELETE /api/v2/automation/file/:id', { params: { id: projectId }, query: { path } });
      notify(`${path} was deleted`, 'Its history keeps what was committed.');
    } catch (error) {
      notifyFailure('The file was not deleted', error);
    }
    onClose();
    await queries.invalidateQueries({ queryKey: ['files', projectId] });
  };
  return (
    <ActionDialog title={`Delete ${path}?`} onClose={onClose} action="Delete" look="danger" onAct={remove}>
      <p>Committed versions stay in the history. Uncommitted changes are lost.</p>
    </ActionDialog>
  );
}
