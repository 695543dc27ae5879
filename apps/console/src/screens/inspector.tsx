import { useVirtualizer } from '@tanstack/react-virtual';
import {
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState,
  type CSSProperties,
  type KeyboardEvent,
  type ReactNode,
} from 'react';

import { classNames } from '../parts/class-names.ts';
import { CopyButton } from '../parts/copy.tsx';
import { SearchInput } from '../parts/field.tsx';
import styles from './inspector.module.css';
import { NodePanel } from './node-panel.tsx';
import { labelOf, nodesAt, shortClass, shortId, type ScreenTreeView, type TreeRow } from './screen-tree.ts';

interface InspectorProps {
  /** Whose screen it is: of another one nothing is chosen or searched yet, and its tree is read from the top. */
  subject?: string;
  tree: ScreenTreeView | undefined;
  /** Address of the picture. */
  picture: string | undefined;
  /** Of the screen in pixels, in which the bounds of nodes are. */
  width: number;
  height: number;
  isStale?: boolean;
  /** Beside the picture: its age, what can be done. */
  pictureHead?: ReactNode;
  /** Where there is no picture. */
  pictureNote?: string;
  /** Where there is no tree. */
  treeNote?: ReactNode;
}

const noRows: readonly TreeRow[] = [];

/** The picture and the tree of one moment: what is pointed at in one is shown in the other. */
export function Inspector(props: InspectorProps) {
  const { subject, tree, pictureHead, treeNote } = props;
  const rows = tree?.rows ?? noRows;
  const [chosen, setChosen] = useState<number>();
  const [hovered, setHovered] = useState<number>();
  const [search, setSearch] = useState('');
  const [shown, setShown] = useState(subject);
  if (shown !== subject) {
    setShown(subject);
    setChosen(undefined);
    setHovered(undefined);
    setSearch('');
  }
  const matches = useMatches(rows, useDeferredValue(search));
  const chosenRow = chosen === undefined ? undefined : rows[chosen];
  return (
    <div className={styles['inspector']}>
      <div className={styles['pane']}>
        {pictureHead !== undefined && <div className={styles['paneHead']}>{pictureHead}</div>}
        <Picture
          {...props}
          {...{ rows, hovered, matches }}
          chosen={chosenRow}
          onChoose={setChosen}
          onHover={setHovered}
        />
      </div>
      <div className={styles['pane']}>
        <div className={styles['paneHead']}>
          <SearchInput label="Search the tree" value={search} onChange={setSearch} />
          <span role="status">{search === '' ? `${rows.length} nodes` : `${matches.size} found`}</span>
        </div>
        {tree === undefined ? (
          <div className={styles['node']}>{treeNote}</div>
        ) : (
          <Tree
            {...{ subject, rows, hovered, matches }}
            chosen={chosen}
            onChoose={setChosen}
            onHover={setHovered}
          />
        )}
      </div>
      <div className={styles['pane']}>
        <div className={styles['paneHead']}>
          <h2>Node</h2>
          {chosenRow?.node.viewId !== undefined && (
            <CopyButton text={chosenRow.node.viewId} label="Copy the ID" />
          )}
        </div>
        {tree === undefined || chosenRow === undefined ? (
          <div className={styles['node']}>
            <p className={styles['none']}>
              Click into the picture or the tree to see a node, and the code that finds it.
            </p>
          </div>
        ) : (
          <NodePanel root={tree.root} node={chosenRow.node} />
        )}
      </div>
    </div>
  );
}

function useMatches(rows: readonly TreeRow[], search: string): ReadonlySet<number> {
  return useMemo(() => {
    const text = search.trim().toLowerCase();
    if (text === '') return new Set<number>();
    const found = rows.filter(({ node }) =>
      [node.text, node.description, node.viewId, node.className, node.hintText].some(
        (part) => part?.toLowerCase().includes(text) === true,
      ),
    );
    return new Set(found.map(({ index }) => index));
  }, [rows, search]);
}

interface Pointed {
  rows: readonly TreeRow[];
  hovered: number | undefined;
  matches: ReadonlySet<number>;
  onChoose: (index: number | undefined) => void;
  onHover: (index: number | undefined) => void;
}

type PictureProps = InspectorProps & Pointed & { chosen: TreeRow | undefined };

function Picture(props: PictureProps) {
  const { rows, picture, width, height, isStale = false, pictureNote, chosen, hovered, matches } = props;
  const frame = useRef<HTMLDivElement>(null);
  /** Alt walks down the stack of nodes below the pointer. */
  const stack = useRef(0);
  const rowAt = (clientX: number, clientY: number): TreeRow[] => {
    const box = frame.current?.getBoundingClientRect();
    if (box === undefined) return [];
    return nodesAt(
      rows,
      ((clientX - box.left) / box.width) * width,
      ((clientY - box.top) / box.height) * height,
    );
  };
  const boxes: readonly (readonly [TreeRow | undefined, string | undefined])[] = [
    ...[...matches].slice(0, 100).map((index) => [rows[index], styles['match']] as const),
    [hovered === undefined ? undefined : rows[hovered], styles['hover']],
    [chosen, styles['chosen']],
  ];
  return (
    <div className={styles['pictureFrame']}>
      {/* The tree beside it is the way for the keyboard. */}
      {/* oxlint-disable-next-line jsx-a11y/no-static-element-interactions, jsx-a11y/click-events-have-key-events */}
      <div
        ref={frame}
        className={styles['picture']}
        data-stale={isStale}
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- React's type knows no properties of our own
        style={{ '--ratio': `${width / height}` } as CSSProperties}
        onPointerMove={({ clientX, clientY }) => props.onHover(rowAt(clientX, clientY)[0]?.index)}
        onPointerLeave={() => props.onHover(undefined)}
        onClick={({ clientX, clientY, altKey }) => {
          const found = rowAt(clientX, clientY);
          stack.current = altKey ? stack.current + 1 : 0;
          props.onChoose(found[stack.current % Math.max(1, found.length)]?.index);
        }}
      >
        {picture === undefined ? (
          <div className={styles['noPicture']}>{pictureNote}</div>
        ) : (
          <img
            key={props.subject}
            src={picture}
            alt="What the screen shows"
            draggable={false}
            decoding="sync"
          />
        )}
        {boxes.map(
          ([row, look]) =>
            row !== undefined && (
              <div
                key={`${row.index} ${look}`}
                className={classNames(styles['box'], look)}
                style={placeOf(row, width, height)}
              />
            ),
        )}
      </div>
    </div>
  );
}

function placeOf({ node }: TreeRow, width: number, height: number) {
  const { left, top, right, bottom } = node.boundsInScreen;
  const part = (value: number, of: number): string => `${(value / of) * 100}%`;
  return {
    left: part(left, width),
    top: part(top, height),
    width: part(right - left, width),
    height: part(bottom - top, height),
  };
}

const rowHeight = 24;

function Tree({
  subject,
  rows,
  chosen,
  hovered,
  matches,
  onChoose,
  onHover,
}: Pointed & { subject: string | undefined; chosen: number | undefined }) {
  const scroll = useRef<HTMLDivElement>(null);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => rowHeight,
    overscan: 10,
  });
  useEffect(() => {
    // Scrolling makes the browser lay the page out, in the frame in which the record is to appear.
    if ((list.scrollOffset ?? 0) > 0) list.scrollToOffset(0);
  }, [list, subject]);
  const firstMatch = matches.values().next().value;
  useEffect(() => {
    if (chosen !== undefined) list.scrollToIndex(chosen, { align: 'auto' });
  }, [list, chosen]);
  useEffect(() => {
    if (firstMatch !== undefined) list.scrollToIndex(firstMatch, { align: 'center' });
  }, [list, firstMatch]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = chosen ?? -1;
    const depth = rows[at]?.depth ?? 0;
    const parent = rows.findLastIndex((row, index) => index < at && row.depth < depth);
    const next = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      ArrowLeft: parent,
      ArrowRight: at + 1,
      Home: 0,
      End: rows.length - 1,
    }[event.key];
    if (next === undefined || next < 0 || next >= rows.length) return;
    event.preventDefault();
    onChoose(next);
  };
  return (
    <div
      ref={scroll}
      className={styles['tree']}
      role="tree"
      aria-label="Accessibility tree"
      tabIndex={0}
      aria-activedescendant={chosen === undefined ? undefined : `node-${chosen}`}
      onKeyDown={onKeyDown}
    >
      <div className={styles['virtual']} role="presentation" style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map(({ index, start }) => {
          const row = rows[index];
          return (
            row !== undefined && (
              // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus -- the tree has the keys
              <div
                key={index}
                id={`node-${index}`}
                role="treeitem"
                aria-level={row.depth + 1}
                aria-selected={index === chosen}
                data-hover={index === hovered}
                data-match={matches.has(index)}
                data-visible={row.node.isVisible}
                className={styles['row']}
                style={{ top: start, paddingLeft: 10 + row.depth * 12 }}
                onClick={() => onChoose(index)}
                onPointerEnter={() => onHover(index)}
                onPointerLeave={() => onHover(undefined)}
              >
                <Name node={row.node} />
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

function Name({ node }: { node: AndroidNode }) {
  const [id, label] = [shortId(node), labelOf(node)];
  return (
    <>
      <span className={styles['class']}>{shortClass(node)}</span>
      {id !== undefined && <span className={styles['id']}>#{id}</span>}
      {label !== undefined && <span className={styles['text']}>“{label}”</span>}
    </>
  );
}
