import {
  useRef,
  useState,
  type CSSProperties,
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
} from 'react';

import styles from './live.module.css';
import type { LivePicture } from './use-live-picture.ts';
import type { Touch } from './use-touch.ts';

interface TouchScreenProps {
  picture: LivePicture;
  /** Undefined: the screen is only looked at. */
  touches: Touch | undefined;
  /** Over the picture. */
  children?: ReactNode;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** A finger that moves less stays where it is, in pixels of this page. */
const leastWay = 8;
/** A finger that stays longer presses long. */
const longPressMs = 500;
const [leastMs, mostMs] = [80, 5_000];

/** Android's numbers of keys, by what a keyboard calls them. */
const keyCodes: Readonly<Record<string, number>> = {
  ...{ Enter: 66, Backspace: 67, Delete: 112, Escape: 4 },
  ...{ ArrowUp: 19, ArrowDown: 20, ArrowLeft: 21, ArrowRight: 22, PageUp: 92, PageDown: 93 },
};

/** The live picture; with `touches` a pointer is a finger on it, and keys go to the phone. Tab leaves it. */
export function TouchScreen({ picture, touches, children }: TouchScreenProps) {
  const frame = useRef<HTMLDivElement>(null);
  const down = useRef<Point & { clientX: number; clientY: number; at: number }>(undefined);
  const [finger, setFinger] = useState<Point>();
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
  const press = (event: PointerEvent): void => {
    const { clientX, clientY, pointerId } = event;
    if (touches === undefined || width === 0 || event.button !== 0) return;
    frame.current?.setPointerCapture(pointerId);
    down.current = { ...pointOf(event), clientX, clientY, at: Date.now() };
    setFinger(down.current);
  };
  const release = (event: PointerEvent): void => {
    const from = down.current;
    down.current = undefined;
    setFinger(undefined);
    if (from === undefined || touches === undefined) return;
    const tookMs = Date.now() - from.at;
    const isStill = Math.hypot(event.clientX - from.clientX, event.clientY - from.clientY) < leastWay;
    const to = isStill ? from : pointOf(event);
    if (isStill && tookMs < longPressMs) return touches.send({ type: 'tap', x: from.x, y: from.y });
    const way = { from_x: from.x, from_y: from.y, to_x: to.x, to_y: to.y };
    touches.send({ type: 'swipe', ...way, duration_ms: Math.min(mostMs, Math.max(leastMs, tookMs)) });
  };
  const typeKey = (event: KeyboardEvent): void => {
    if (touches === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const code = keyCodes[event.key];
    if (code === undefined && event.key.length !== 1) return;
    // The page has its own keys.
    event.preventDefault();
    event.stopPropagation();
    if (code === undefined) touches.type(event.key);
    else touches.send({ type: 'key', key_code: code });
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
        tabIndex={0}
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- React's type knows no properties of our own
        style={{ '--ratio': width === 0 ? '0.45' : `${width / height}` } as CSSProperties}
        onPointerDown={press}
        onPointerMove={(event) => down.current !== undefined && setFinger(pointOf(event))}
        onPointerUp={release}
        onPointerCancel={() => {
          down.current = undefined;
          setFinger(undefined);
        }}
        onKeyDown={typeKey}
        // What is selected on the page would go with the finger.
        onDragStart={(event) => event.preventDefault()}
      >
        {picture.video !== undefined && (
          <canvas ref={picture.video.attach} role="img" aria-label="What the screen shows" />
        )}
        {picture.video === undefined && picture.address !== undefined && (
          <img src={picture.address} alt="What the screen shows" draggable={false} />
        )}
        {children}
        {picture.note !== undefined && (
          <p className={styles['note']} role="status">
            {picture.note}
          </p>
        )}
        {finger !== undefined && (
          <span
            className={styles['finger']}
            style={{ left: `${(finger.x / width) * 100}%`, top: `${(finger.y / height) * 100}%` }}
          />
        )}
      </div>
    </div>
  );
}
