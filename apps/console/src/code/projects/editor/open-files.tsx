import { useEffect, useState } from 'react';

import { IconButton } from '../../../parts/button.tsx';
import { Icon } from '../../../parts/icon.tsx';
import styles from '../project.module.css';

/** Keeps the list of files that are open in this window, in the order of opening. The list survives a reload. */
export function useOpenFiles(projectId: string, current: string | undefined) {
  const key = `phalanx.open.${projectId}`;
  const [paths, setPaths] = useState<readonly string[]>(() =>
    (sessionStorage.getItem(key) ?? '').split('\n').filter(Boolean),
  );
  const shown = withOpened(paths, current);
  if (shown !== paths) setPaths(shown);
  useEffect(() => sessionStorage.setItem(key, shown.join('\n')), [key, shown]);
  /** Closes a file. Returns the path to show instead if it was the current one. */
  const close = (path: string): string | undefined => {
    setPaths(shown.filter((one) => one !== path));
    return path === current ? nextOpen(shown, path) : undefined;
  };
  return { paths: shown, close };
}

interface OpenFilesProps {
  files: ReturnType<typeof useOpenFiles>;
  current: string | undefined;
  onOpen: (path: string) => void;
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Tabs of the open files. Closing a tab keeps its unsaved text in this browser. */
export function OpenFiles({ files: { paths, close }, current, onOpen }: OpenFilesProps) {
  if (paths.length < 2) return null;
  return (
    <div className={styles['openFiles']} role="group" aria-label="Open files">
      {paths.map((path) => (
        <div key={path} className={styles['openFile']} data-current={path === current}>
          <button type="button" aria-current={path === current} title={path} onClick={() => onOpen(path)}>
            {nameOf(path)}
          </button>
          <IconButton
            label={`Close ${path}`}
            onClick={() => {
              const next = close(path);
              if (next !== undefined) onOpen(next);
            }}
          >
            <Icon name="close" size={12} />
          </IconButton>
        </div>
      ))}
    </div>
  );
}

const maxOpen = 20;

/**
 * Returns the list with `path` added, or the same list if it is already open. Beyond the limit, the oldest tab is
 * closed.
 */
export function withOpened(paths: readonly string[], path: string | undefined): readonly string[] {
  if (path === undefined || paths.includes(path)) return paths;
  return [...paths, path].slice(-maxOpen);
}

/** Returns the path to show after one is closed: its right neighbor, or else its left neighbor. */
export function nextOpen(paths: readonly string[], closed: string): string | undefined {
  const at = paths.indexOf(closed);
  return paths[at + 1] ?? paths[at - 1];
}
