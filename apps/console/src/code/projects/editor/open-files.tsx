import { useEffect, useState } from 'react';

import { IconButton } from '../../../parts/button.tsx';
import { Icon } from '../../../parts/icon.tsx';
import styles from '../project.module.css';

/** The files that this window has open, in the order in which they were opened; it still knows them after a reload. */
export function useOpenFiles(projectId: string, current: string | undefined) {
  const key = `phalanx.open.${projectId}`;
  const [paths, setPaths] = useState<readonly string[]>(() =>
    (sessionStorage.getItem(key) ?? '').split('\n').filter(Boolean),
  );
  const shown = withOpened(paths, current);
  if (shown !== paths) setPaths(shown);
  useEffect(() => sessionStorage.setItem(key, shown.join('\n')), [key, shown]);
  /** Returns what is shown instead, when it was the current one. */
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

/** The open files above the code. Text that was typed in a closed one is kept in this browser. */
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

/** The same list where the path is open already; beyond the most, the one that was opened first is closed. */
export function withOpened(paths: readonly string[], path: string | undefined): readonly string[] {
  if (path === undefined || paths.includes(path)) return paths;
  return [...paths, path].slice(-maxOpen);
}

/** The path to show when one is closed: the one to its right, else to its left. */
export function nextOpen(paths: readonly string[], closed: string): string | undefined {
  const at = paths.indexOf(closed);
  return paths[at + 1] ?? paths[at - 1];
}
