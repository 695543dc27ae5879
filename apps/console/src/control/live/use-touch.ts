import type { PhoneInput, Device } from '@phalanx/protocol';
import { useEffect, useMemo, useRef, useState } from 'react';
import { TouchRecorder } from '@phalanx/automation/touch-recorder';
import { useQueryClient } from '@tanstack/react-query';

import { call } from '../../api/call.ts';
import { notifyFailure } from '../../parts/notices.tsx';
import { screenQuery } from '../../fleet/screens/screen-tree.ts';
import type { useLease } from './use-lease.ts';

/** Time within which typed letters are sent as one text. */
const gatherMs = 150;

/** Input of a person to a phone. */
export interface Touch {
  readonly send: (input: PhoneInput) => void;
  /** Single letters, which go together. */
  readonly type: (text: string) => void;
}

/** Touches a phone, one thing after the other, in the order in which somebody did them. */
class Touches implements Touch {
  readonly #touch: (input: PhoneInput) => Promise<unknown>;
  #last = Promise.resolve();
  #series = { isOver: false };
  #typed = '';
  #timer: number | undefined;

  constructor(touch: (input: PhoneInput) => Promise<unknown>) {
    this.#touch = touch;
  }

  readonly send = (input: PhoneInput): void => {
    this.flush();
    this.#add(input);
  };

  readonly type = (text: string): void => {
    this.#typed += text;
    window.clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.flush(), gatherMs);
  };

  flush(): void {
    window.clearTimeout(this.#timer);
    const text = this.#typed;
    this.#typed = '';
    if (text !== '') this.#add({ type: 'text', text });
  }

  /** After one that failed, those that wait are dropped: they were meant for the screen that it leads to. */
  #add(body: PhoneInput): void {
    const series = this.#series;
    const touch = async (): Promise<void> => {
      if (series.isOver) return;
      await this.#touch(body);
    };
    this.#last = this.#last.then(touch).catch((error: unknown) => {
      series.isOver = true;
      this.#series = { isOver: false };
      notifyFailure('The phone was not touched', error);
    });
  }
}

interface TouchOptions {
  /** The touch is refused when it does not hold any more. */
  readonly leaseId?: string | undefined;
  /** Has the answer say which window got the touch. Default: false. */
  readonly tellsWindow?: boolean;
}

export const touchPhone = (
  deviceId: string,
  body: PhoneInput,
  { leaseId, tellsWindow = false }: TouchOptions = {},
) =>
  call('POST /api/v2/devices/:id/input', {
    params: { id: deviceId },
    query: {
      ...(leaseId !== undefined && { lease_id: leaseId }),
      ...(tellsWindow && { tell_window: 'true' }),
    },
    body,
  });

/** Touches go to the phone one after the other; `touch` says how, when it is more than that. */
export function useTouch(deviceId: string, touch?: (input: PhoneInput) => Promise<unknown>): Touch {
  const current = useRef(touch);
  useEffect(() => {
    current.current = touch;
  });
  const touches = useMemo(
    () => new Touches((input) => current.current?.(input) ?? touchPhone(deviceId, input)),
    [deviceId],
  );
  useEffect(() => () => touches.flush(), [touches]);
  return touches;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

type Fingers = Extract<PhoneInput, { type: 'fingers' }>;

const zoomMs = 300;
/** Distances of the fingers from the middle, as shares of the smaller side of the screen. */
const [nearShare, farShare] = [0.1, 0.35];

/** Position of the second finger: opposite the first, across the middle of the screen. */
export const mirrored = ({ x, y }: Point, { width, height }: Size): Point => ({
  x: Math.max(0, width - 1 - x),
  y: Math.max(0, height - 1 - y),
});

/** Two fingers around the middle of the screen, of which one goes that way. */
export function pinchAlong(from: Point, to: Point, size: Size, duration_ms: number): Fingers {
  const [otherFrom, otherTo] = [mirrored(from, size), mirrored(to, size)];
  const way = (start: Point, end: Point): Fingers['ways'][number] => ({
    from_x: start.x,
    from_y: start.y,
    to_x: end.x,
    to_y: end.y,
  });
  return { type: 'fingers', ways: [way(from, to), way(otherFrom, otherTo)], duration_ms };
}

/** Two fingers that part, or come together, in the middle of the screen. */
export function zoom(isIn: boolean, size: Size): Fingers {
  const side = Math.min(size.width, size.height);
  const at = (share: number): Point => ({
    x: Math.round(size.width / 2),
    y: Math.round(size.height / 2 - share * side),
  });
  const [near, far] = [at(nearShare), at(farShare)];
  return isIn ? pinchAlong(near, far, size, zoomMs) : pinchAlong(far, near, size, zoomMs);
}

const noSecrets: ReadonlyMap<string, string> = new Map();

/** Touches of a phone that somebody takes with the first of them; while it is on, each is written as code. */
export function useRecording(
  device: Device,
  lease: ReturnType<typeof useLease>,
  onCode: (lines: readonly string[]) => void,
) {
  const queries = useQueryClient();
  const [recorder, setRecorder] = useState<TouchRecorder>();
  const [isWriting, setWriting] = useState(false);
  const [secrets, setSecrets] = useState(noSecrets);
  const readScreen = async (): Promise<AndroidNode> =>
    (await queries.fetchQuery({ ...screenQuery(device.device_id), staleTime: 0 })).tree.root;
  const write = (lines: readonly string[]): void => {
    if (lines.length > 0) onCode(lines);
  };
  const record = async (by: TouchRecorder, input: PhoneInput): Promise<void> => {
    setWriting(true);
    try {
      const before = await readScreen();
      const { touched_window: touched } = await touchPhone(device.device_id, input, { tellsWindow: true });
      write(by.write({ input, window: touched, before, after: await untilSettled(readScreen) }));
      setSecrets((known) => new Map([...known, ...by.secrets]));
    } finally {
      setWriting(false);
    }
  };
  const touch = async (input: PhoneInput): Promise<void> => {
    if (!lease.isMine && !(await lease.take())) throw new Error(lease.reason ?? 'You have no control of it.');
    if (recorder === undefined) await touchPhone(device.device_id, input);
    else await record(recorder, input);
  };
  return {
    isOn: recorder !== undefined,
    isWriting,
    /** Passwords that were typed while it was on, by the names that the code has for them. */
    secrets,
    forgetSecrets: () => setSecrets(noSecrets),
    touch,
    start: () => setRecorder(new TouchRecorder()),
    stop: () => {
      write(recorder?.end() ?? []);
      setRecorder(undefined);
    },
  };
}

/** Wait before the first reading, in milliseconds: by then the phone has begun to react to the touch. */
const beginsMs = 200;
const pauseMs = 150;
const maxReads = 12;

/** A screen that two readings in a row show alike; the last one, of a screen that never comes to rest. */
async function untilSettled(
  read: () => Promise<AndroidNode>,
  pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms)),
): Promise<AndroidNode> {
  await pause(beginsMs);
  let last = await read();
  for (let reads = 1; reads < maxReads; reads += 1) {
    await pause(pauseMs);
    const next = await read();
    if (lookOf(next) === lookOf(last)) return next;
    last = next;
  }
  return last;
}

const lookOf = (screen: AndroidNode): string =>
  screen
    .allNodes()
    .map(({ viewId, text, description, isChecked, boundsInScreen: { left, top } }) =>
      [viewId, text, description, isChecked, left, top].join(' '),
    )
    .join('\n');
