import { useCallback, useMemo, useState } from 'react';

export interface Selection {
  readonly ids: ReadonlySet<string>;
  /** Toggles a row; with `isRange`, all rows from the one toggled last. */
  readonly toggle: (id: string, isRange: boolean) => void;
  readonly set: (ids: readonly string[]) => void;
}

/** Selected rows of a list. */
export function useSelection(rows: readonly string[]): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [last, setLast] = useState<string>();
  const toggle = useCallback(
    (id: string, isRange: boolean) => {
      const [from, to] = [rows.indexOf(last ?? id), rows.indexOf(id)];
      const touched = isRange && from >= 0 ? rows.slice(Math.min(from, to), Math.max(from, to) + 1) : [id];
      setIds((known) => {
        const next = new Set(known);
        const isOn = !known.has(id);
        for (const one of touched)
          if (isOn) next.add(one);
          else next.delete(one);
        return next;
      });
      setLast(id);
    },
    [rows, last],
  );
  const set = useCallback((all: readonly string[]) => setIds(new Set(all)), []);
  return useMemo(() => ({ ids, toggle, set }), [ids, toggle, set]);
}
