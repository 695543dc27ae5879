import { useDeferredValue, useRef, useState, type CSSProperties, type ReactNode } from 'react';

import { CopyButton } from '../../parts/copy.tsx';
import { SearchInput } from '../../parts/field.tsx';
import styles from './inspector.module.css';
import { NodeBoxes, NodePanel, NodeTree, useMatches, type Pointed } from './nodes.tsx';
import { nodesAt, type ScreenTreeView, type TreeRow } from './screen-tree.ts';

interface InspectorProps {
  /** Identity of the screen. A change resets the choice, the search and the scroll position. */
  subject?: string;
  tree: ScreenTreeView | undefined;
  /** URL of the picture. */
  picture: string | undefined;
  /** Width and height of the screen in pixels, the coordinate space of node bounds. */
  width: number;
  height: number;
  isStale?: boolean;
  /** Content drawn over the picture. */
  marks?: ReactNode;
  /** Content above the picture, such as its age and actions. */
  pictureHead?: ReactNode;
  /** Text shown when there is no picture. */
  pictureNote?: string;
  /** Text shown when there is no tree. */
  treeNote?: ReactNode;
}

const noRows: readonly TreeRow[] = [];

/** Picture and tree of the same moment. Pointing at a node in one highlights it in the other. */
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
          <NodeTree
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
              Click the picture or the tree to see a node and the code that finds it.
            </p>
          </div>
        ) : (
          <NodePanel node={chosenRow.node} />
        )}
      </div>
    </div>
  );
}

type PictureProps = InspectorProps & Pointed & { chosen: TreeRow | undefined };

function Picture(props: PictureProps) {
  const { rows, picture, width, height, isStale = false, pictureNote, chosen, hovered, matches } = props;
  const frame = useRef<HTMLDivElement>(null);
  /** Index in the stack of nodes below the pointer; Alt moves down the stack. */
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
  return (
    <div className={styles['pictureFrame']}>
      {/* The tree beside it is the keyboard alternative. */}
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
        {props.marks}
        <NodeBoxes {...{ rows, chosen, hovered, matches, width, height }} />
      </div>
    </div>
  );
}
