import { classNames } from '../parts/class-names.ts';
import styles from './inspector.module.css';
import type { TreeRow } from './screen-tree.ts';

const mostMatches = 100;

interface NodeBoxesProps {
  rows: readonly TreeRow[];
  chosen: TreeRow | undefined;
  hovered: number | undefined;
  matches: ReadonlySet<number>;
  /** Of the screen in pixels. */
  width: number;
  height: number;
}

/** Outlines of nodes over a picture of their screen. */
export function NodeBoxes({ rows, chosen, hovered, matches, width, height }: NodeBoxesProps) {
  const boxes: readonly (readonly [TreeRow | undefined, string | undefined])[] = [
    ...[...matches].slice(0, mostMatches).map((index) => [rows[index], styles['match']] as const),
    [hovered === undefined ? undefined : rows[hovered], styles['hover']],
    [chosen, styles['chosen']],
  ];
  return boxes.map(
    ([row, look]) =>
      row !== undefined && (
        <div
          key={`${row.index} ${look}`}
          className={classNames(styles['box'], look)}
          style={placeOf(row, width, height)}
        />
      ),
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
