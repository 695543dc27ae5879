import type { FileListing } from '@phalanx/protocol';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState } from 'react';

import { rowHeight } from '../devices/row-height.ts';
import { Icon } from '../parts/icon.tsx';
import styles from './project.module.css';

interface FileTreeProps {
  files: readonly FileListing[];
  current: string | undefined;
  /** Paths of what is typed and not saved. */
  drafts: readonly string[];
  onOpen: (path: string) => void;
}

const changeMarks = { unchanged: '', added: 'new', modified: 'changed', deleted: 'deleted' } as const;
const indentation = 14;

/** The files in their folders; only those rows are drawn that are in view. */
export function FileTree({ files, current, drafts, onOpen }: FileTreeProps) {
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
  /** The last part of the path. */
  readonly name: string;
  readonly depth: number;
  readonly isOpen: boolean;
}

/** Folders of a larger project are closed at first. */
const mostOpen = 200;

interface Shown {
  /** Folders that were opened or closed by hand. */
  readonly toggled: ReadonlySet<string>;
  /** The folders around it are open. */
  readonly current: string | undefined;
}

/** The rows of the list of files: folders before files, each in the order of the names. */
export function fileRows(paths: readonly string[], { toggled, current = '' }: Shown): FileRow[] {
  const areOpen = paths.length <= mostOpen;
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
