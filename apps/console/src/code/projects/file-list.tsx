import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState, useEffect, useMemo, useRef } from 'react';
import type { FileListing } from '@phalanx/protocol';
import { useVirtualizer } from '@tanstack/react-virtual';

import { call } from '../../api/call.ts';
import { IconButton } from '../../parts/button.tsx';
import { ActionDialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { notify } from '../../parts/notices.tsx';
import { RemovalDialog } from '../../parts/removal-button.tsx';
import { InlineFailure, Loading, messageOf } from '../../parts/states.tsx';
import styles from './project.module.css';
import { draftsQuery, filesQuery } from './project.tsx';
import { rowHeight } from '../../parts/row.ts';

interface FileListProps {
  projectId: string;
  userId: string;
  current: string | undefined;
  /** Reason why files can't be changed. */
  reason: string | undefined;
  onOpen: (path: string) => void;
  /** Content on the edge of the list, such as its splitter. */
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
      reason={path.trim() === '' ? 'Enter a path.' : undefined}
      onAct={create}
    >
      <TextField
        label="Path"
        hint="For example, flows/login.ts"
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
      reason={path.trim() === '' || path.trim() === before ? 'Enter a different path.' : undefined}
      onAct={rename}
    >
      <TextField
        label="Path"
        hint="Imports in other files are updated."
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
    await call('DELETE /api/v2/automation/file/:id', { params: { id: projectId }, query: { path } });
    notify(`${path} was deleted`, 'Committed versions stay in the history.');
    await queries.invalidateQueries({ queryKey: ['files', projectId] });
  };
  return (
    <RemovalDialog name={path} onRemove={remove} onClose={onClose}>
      <p>Committed versions stay in the history. Uncommitted changes are lost.</p>
    </RemovalDialog>
  );
}

interface FileTreeProps {
  files: readonly FileListing[];
  current: string | undefined;
  /** Paths with unsaved text. */
  drafts: readonly string[];
  onOpen: (path: string) => void;
}

const changeMarks = { unchanged: '', added: 'new', modified: 'changed', deleted: 'deleted' } as const;
const indentation = 14;

/** Tree of files and folders. Renders only the rows in view. */
function FileTree({ files, current, drafts, onOpen }: FileTreeProps) {
  const scroll = useRef<HTMLDivElement>(null);
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const there = useMemo(() => files.filter(({ change }) => change !== 'deleted'), [files]);
  const marks = useMemo(() => new Map(there.map(({ path, change }) => [path, changeMarks[change]])), [there]);
  const rows = useMemo(
    () =>
      fileRows(
        there.map(({ path }) => path),
        { toggled, current },
      ),
    [there, toggled, current],
  );
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: rowHeight,
    getItemKey: (index) => rows[index]?.path ?? index,
    overscan: 12,
  });
  const at = rows.findIndex(({ path }) => path === current);
  useEffect(() => {
    if (at >= 0) list.scrollToIndex(at);
  }, [list, at]);
  const toggle = (folder: string): void =>
    setToggled((known) => {
      const next = new Set(known);
      if (!next.delete(folder)) next.add(folder);
      return next;
    });
  return (
    <div ref={scroll} className={styles['fileList']}>
      <ul className={styles['virtual']} style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map(({ index, start, key, size }) => {
          const row = rows[index];
          if (row === undefined) return null;
          const isFolder = row.kind === 'folder';
          return (
            <li key={key} style={{ transform: `translateY(${start}px)`, height: size }}>
              <button
                type="button"
                className={styles['file']}
                style={{ paddingLeft: 8 + row.depth * indentation }}
                aria-current={row.path === current}
                aria-expanded={isFolder ? row.isOpen : undefined}
                title={row.path}
                onClick={() => (isFolder ? toggle(row.path) : onOpen(row.path))}
              >
                <Icon name={isFolder ? (row.isOpen ? 'down' : 'right') : 'file'} size={14} />
                <span>{row.name}</span>
                {!isFolder && <i>{drafts.includes(row.path) ? 'unsaved' : marks.get(row.path)}</i>}
              </button>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

interface FileRow {
  readonly kind: 'file' | 'folder';
  readonly path: string;
  /** Last segment of the path. */
  readonly name: string;
  readonly depth: number;
  readonly isOpen: boolean;
}

/** Number of files above which folders start collapsed. */
const maxOpen = 200;

interface Shown {
  /** Folders that the user expanded or collapsed. */
  readonly toggled: ReadonlySet<string>;
  /** Current file, whose parent folders are expanded. */
  readonly current: string | undefined;
}

/** Returns the rows of the file tree: folders before files, both sorted by name. */
export function fileRows(paths: readonly string[], { toggled, current = '' }: Shown): FileRow[] {
  const areOpen = paths.length <= maxOpen;
  const rows: FileRow[] = [];
  const add = (below: readonly string[], folder: string, depth: number): void => {
    const files = below.filter((path) => !path.slice(folder.length).includes('/'));
    const inFolders = Map.groupBy(
      below.filter((path) => path.slice(folder.length).includes('/')),
      (path) => path.slice(0, path.indexOf('/', folder.length) + 1),
    );
    for (const [path, inside] of [...inFolders].toSorted(([one], [other]) => compare(one, other))) {
      const isOpen = (areOpen || current.startsWith(path)) !== toggled.has(path);
      rows.push({ kind: 'folder', path, name: path.slice(folder.length, -1), depth, isOpen });
      if (isOpen) add(inside, path, depth + 1);
    }
    for (const path of files.toSorted(compare))
      rows.push({ kind: 'file', path, name: path.slice(folder.length), depth, isOpen: false });
  };
  add(paths, '', 0);
  return rows;
}

const { compare } = new Intl.Collator('en', { numeric: true });
