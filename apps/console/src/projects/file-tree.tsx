import type { FileListing } from '@phalanx/protocol';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState } from 'react';

import { rowHeight } from '../devices/row-height.ts';
import { Icon } from '../parts/icon.tsx';
import { fileRows } from './file-rows.ts';
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
