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
