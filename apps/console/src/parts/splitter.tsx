import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react';

import styles from './splitter.module.css';

interface PaneLimits {
  readonly min: number;
  readonly max: number;
}

const stepPixels = 24;

const readSizes = (key: string): Record<string, unknown> => {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? '{}');
    return typeof kept === 'object' && kept !== null ? { ...kept } : {};
  } catch {
    return {};
  }
};

const within = ({ min, max }: PaneLimits, size: number): number =>
  Math.round(Math.min(max, Math.max(min, size)));

/** Size of a pane in pixels. This browser remembers it under `key` and the pane's name. */
export function usePaneSize(key: string, name: string, first: number, limits: PaneLimits) {
  const [size, setSize] = useState(() => {
    const kept = readSizes(key)[name];
    return within(limits, typeof kept === 'number' && Number.isFinite(kept) ? kept : first);
  });
  const change = (wanted: number): void => {
    const next = within(limits, wanted);
    setSize(next);
    localStorage.setItem(key, JSON.stringify({ ...readSizes(key), [name]: next }));
  };
  return { size, change, limits };
}

interface SplitterProps {
  label: string;
  pane: ReturnType<typeof usePaneSize>;
  /** Edge of the pane with the splitter. */
  edge: 'left' | 'right' | 'top';
}

/** Edge of a pane that resizes it, by pointer or arrow keys. */
export function Splitter({ label, pane, edge }: SplitterProps) {
  const from = useRef<{ at: number; size: number }>(undefined);
  const isUpright = edge !== 'top';
  /** Sign of the axis direction in which the pane grows. */
  const sign = edge === 'right' ? 1 : -1;
  const placeOf = (event: PointerEvent): number => (isUpright ? event.clientX : event.clientY);
  const grow: Readonly<Record<string, number>> = isUpright
    ? { ArrowLeft: -sign, ArrowRight: sign }
    : { ArrowUp: -sign, ArrowDown: sign };
  const onKeyDown = (event: KeyboardEvent): void => {
    const way = grow[event.key];
    if (way === undefined) return;
    event.preventDefault();
    pane.change(pane.size + way * stepPixels);
  };
  const stop = (): void => {
    from.current = undefined;
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- a separator with a value is a control
    <div
      className={styles['splitter']}
      data-edge={edge}
      role="separator"
      aria-label={label}
      aria-orientation={isUpright ? 'vertical' : 'horizontal'}
      aria-valuenow={pane.size}
      aria-valuemin={pane.limits.min}
      aria-valuemax={pane.limits.max}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a separator with a value is a control
      tabIndex={0}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = { at: placeOf(event), size: pane.size };
      }}
      onPointerMove={(event) => {
        if (from.current !== undefined)
          pane.change(from.current.size + sign * (placeOf(event) - from.current.at));
      }}
      onPointerUp={stop}
      onPointerCancel={stop}
    />
  );
}

/** Whether a part of the page is open, as remembered by this browser. */
export function useRemembered(key: string) {
  const [isOpen, setOpen] = useState(() => localStorage.getItem(key) !== 'closed');
  const set = (wanted: boolean): void => {
    localStorage.setItem(key, wanted ? 'open' : 'closed');
    setOpen(wanted);
  };
  return { isOpen, toggle: () => set(!isOpen), open: () => set(true) };
}
