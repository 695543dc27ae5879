import {
  useEffect,
  useRef,
  useState,
  type CSSProperties,
  type DragEvent,
  type PointerEvent,
  type ReactNode,
  type RefObject,
  type ClipboardEvent,
  type KeyboardEvent,
} from 'react';

import styles from './live.module.css';
import { mirrored, pinchAlong, zoom, type Touch } from './use-touch.ts';
import type { LivePicture } from './use-live-picture.ts';

/** Android key codes by the key names of browsers. */
const keyCodes: Readonly<Record<string, number>> = {
  Enter: 66,
  Backspace: 67,
  Delete: 112,
  Escape: 4,
  ArrowUp: 19,
  ArrowDown: 20,
  ArrowLeft: 21,
  ArrowRight: 22,
  PageUp: 92,
  PageDown: 93,
};
/** The phone accepts 10,000 UTF-16 units in one request; a character has at most two. */
const lettersAtOnce = 5000;

interface TouchScreenProps {
  picture: LivePicture;
  /** Undefined makes the screen view-only. */
  touches: Touch | undefined;
  /** Receives dropped or pasted files. */
  onFiles?: ((files: readonly File[]) => void) | undefined;
  /** Content above the picture. */
  children?: ReactNode;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Minimum length of a swipe, in CSS pixels. A shorter movement counts as standing still. */
const minSwipe = 8;
/** Duration after which a touch is a long press, in ms. */
const longPressMs = 500;
const [minMs, maxMs] = [80, 5_000];
/** Wheel events within this time are one zoom, in ms. */
const wheelMs = 200;

interface Down extends Point {
  readonly clientX: number;
  readonly clientY: number;
  readonly at: number;
  /** Whether a second finger touches the opposite side of the screen. */
  readonly isPinch: boolean;
}

/**
 * Live picture of a phone. With `touches`, the pointer acts as a finger (as two with Shift or Ctrl), Ctrl with the
 * wheel zooms, and typed text goes to the phone. Tab leaves the screen.
 */
export function TouchScreen({ picture, touches, onFiles, children }: TouchScreenProps) {
  const frame = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const down = useRef<Down>(undefined);
  const [fingers, setFingers] = useState<readonly Point[]>([]);
  const { width, height } = picture;
  const pointOf = ({ clientX, clientY }: PointerEvent): Point => {
    const box = frame.current?.getBoundingClientRect() ?? new DOMRect(0, 0, 1, 1);
    const within = (value: number, size: number): number =>
      Math.round(Math.max(0, Math.min(size - 1, value)));
    return {
      x: within(((clientX - box.left) / box.width) * width, width),
      y: within(((clientY - box.top) / box.height) * height, height),
    };
  };
  const show = (point: Point): void =>
    setFingers(down.current?.isPinch === true ? [point, mirrored(point, picture)] : [point]);
  const press = (event: PointerEvent): void => {
    const { clientX, clientY, pointerId } = event;
    if (touches === undefined || width === 0 || event.button !== 0) return;
    frame.current?.setPointerCapture(pointerId);
    const isPinch = event.shiftKey || event.ctrlKey;
    down.current = { ...pointOf(event), clientX, clientY, at: Date.now(), isPinch };
    show(down.current);
  };
  const release = (event: PointerEvent): void => {
    const from = down.current;
    down.current = undefined;
    setFingers([]);
    if (from === undefined || touches === undefined) return;
    const tookMs = Date.now() - from.at;
    const isStill = Math.hypot(event.clientX - from.clientX, event.clientY - from.clientY) < minSwipe;
    const to = isStill ? from : pointOf(event);
    const duration = Math.min(maxMs, Math.max(minMs, tookMs));
    if (from.isPinch) return isStill ? undefined : touches.send(pinchAlong(from, to, picture, duration));
    if (isStill && tookMs < longPressMs) return touches.send({ type: 'tap', x: from.x, y: from.y });
    const way = { from_x: from.x, from_y: from.y, to_x: to.x, to_y: to.y };
    touches.send({ type: 'swipe', ...way, duration_ms: duration });
  };
  useWheelZoom(frame, (isIn) => {
    if (touches !== undefined && width > 0) touches.send(zoom(isIn, picture));
  });
  const drop = (event: DragEvent): void => {
    if (touches === undefined || onFiles === undefined) return;
    event.preventDefault();
    const files = [...event.dataTransfer.files];
    if (files.length > 0) onFiles(files);
  };
  return (
    <div className={styles['frame']}>
      <div
        ref={frame}
        className={styles['screen']}
        data-touched={touches !== undefined}
        data-stale={picture.note !== undefined}
        role="application"
        aria-label={touches === undefined ? 'Live picture of the phone' : 'The phone: touch it, or type'}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- keys go to the phone from here
        tabIndex={touches === undefined ? 0 : -1}
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- React's type knows no properties of our own
        style={{ '--ratio': width === 0 ? '0.45' : `${width / height}` } as CSSProperties}
        onPointerDown={press}
        onPointerMove={(event) => down.current !== undefined && show(pointOf(event))}
        onPointerUp={release}
        onPointerCancel={() => {
          down.current = undefined;
          setFingers([]);
        }}
        onFocus={({ target, currentTarget }) => {
          if (target === currentTarget) field.current?.focus({ preventScroll: true });
        }}
        onDragOver={(event) => {
          if (touches !== undefined && onFiles !== undefined) event.preventDefault();
        }}
        onDrop={drop}
        // Prevents the finger from dragging a selection of the page.
        onDragStart={(event) => event.preventDefault()}
      >
        {picture.video !== undefined && (
          <canvas ref={picture.video.attach} role="img" aria-label="What the screen shows" />
        )}
        {picture.video === undefined && picture.address !== undefined && (
          <img src={picture.address} alt="What the screen shows" draggable={false} />
        )}
        {children}
        {touches !== undefined && <TypedText field={field} touches={touches} onFiles={onFiles} />}
        {picture.note !== undefined && (
          <p className={styles['note']} role="status">
            {picture.note}
          </p>
        )}
        {fingers.map(({ x, y }, index) => (
          <span
            // Fingers have an order but no IDs.
            // oxlint-disable-next-line react/no-array-index-key
            key={index}
            className={styles['finger']}
            style={{ left: `${(x / width) * 100}%`, top: `${(y / height) * 100}%` }}
          />
        ))}
      </div>
    </div>
  );
}

/** Handles Ctrl with the wheel, which would otherwise zoom the page. */
function useWheelZoom(frame: RefObject<HTMLDivElement | null>, onZoom: (isIn: boolean) => void): void {
  const current = useRef(onZoom);
  useEffect(() => {
    current.current = onZoom;
  });
  useEffect(() => {
    const element = frame.current;
    let timer: number | undefined;
    let way = 0;
    const turn = (event: WheelEvent): void => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      way += event.deltaY;
      window.clearTimeout(timer);
      timer = window.setTimeout(() => {
        current.current(way < 0);
        way = 0;
      }, wheelMs);
    };
    // React adds passive listeners, which can't prevent the default.
    element?.addEventListener('wheel', turn, { passive: false });
    return () => {
      window.clearTimeout(timer);
      element?.removeEventListener('wheel', turn);
    };
  }, [frame]);
}

interface TypedTextProps {
  field: RefObject<HTMLTextAreaElement | null>;
  touches: Touch;
  onFiles: ((files: readonly File[]) => void) | undefined;
}

/**
 * Text field over the picture whose input goes to the phone, so that every keyboard layout and input method of the
 * computer works.
 */
function TypedText({ field, touches, onFiles }: TypedTextProps) {
  const [isComposing, setComposing] = useState(false);
  // The text may arrive together with the end of the last composition, or after it.
  const composing = useRef(false);
  const compose = (isOn: boolean): void => {
    composing.current = isOn;
    setComposing(isOn);
  };
  const take = (): void => {
    const text = field.current?.value ?? '';
    if (field.current === null || text === '' || composing.current) return;
    field.current.value = '';
    touches.type(text);
  };
  const pressKey = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const code = keyCodes[event.key];
    if (code === undefined) return;
    event.preventDefault();
    touches.send({ type: 'key', key_code: code });
  };
  const paste = (event: ClipboardEvent): void => {
    event.preventDefault();
    const files = [...event.clipboardData.files];
    if (files.length > 0) return onFiles?.(files);
    const letters = [...event.clipboardData.getData('text/plain').replaceAll('\r\n', '\n')];
    for (let at = 0; at < letters.length; at += lettersAtOnce)
      touches.send({ type: 'text', text: letters.slice(at, at + lettersAtOnce).join('') });
  };
  return (
    <textarea
      ref={field}
      className={styles['typed']}
      data-composing={isComposing}
      aria-label="Type on the phone"
      autoCapitalize="off"
      autoComplete="off"
      autoCorrect="off"
      spellCheck={false}
      rows={1}
      onKeyDown={pressKey}
      onInput={take}
      onCompositionStart={() => compose(true)}
      onCompositionEnd={() => {
        compose(false);
        take();
      }}
      onPaste={paste}
    />
  );
}
