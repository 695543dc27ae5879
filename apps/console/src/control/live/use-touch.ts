import type { PhoneInput, Device } from '@phalanx/protocol';
import { useEffect, useMemo, useRef, useState } from 'react';
import { TouchRecorder } from '@phalanx/automation/touch-recorder';
import { useQueryClient } from '@tanstack/react-query';

import { call } from '../../api/call.ts';
import { notifyFailure } from '../../parts/notices.tsx';
import { screenQuery } from '../../fleet/screens/screen-tree.ts';
import type { useLease } from './use-lease.ts';

/** Typed characters within this time are sent as one text, in ms. */
const gatherMs = 150;

/** Sends a user's input to a phone. */
export interface Touch {
  readonly send: (input: PhoneInput) => void;
  /** Types characters, which are collected into one text. */
  readonly type: (text: string) => void;
}

/** Sends touches to a phone one by one, in the order of the input. */
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

  /** Queues an input. A failed input drops those queued behind it, which were meant for the screen that it leads to. */
  #add(body: PhoneInput): void {
    const series = this.#series;
    const touch = async (): Promise<void> => {
      if (series.isOver) return;
      await this.#touch(body);
    };
    this.#last = this.#last.then(touch).catch((error: unknown) => {
      series.isOver = true;
      this.#series = { isOver: false };
      notifyFailure('The input was not sent', error);
    });
  }
}

interface TouchOptions {
  /** ID of the lease to use; the touch is refused if the lease has ended. */
  readonly leaseId?: string | undefined;
  /** Whether the reply names the touched window. Default: false. */
  readonly tellsWindow?: boolean;
  /** Whether the reply waits until the screen is stable. Default: false. */
  readonly settles?: boolean;
}

export const touchPhone = (
  deviceId: string,
  body: PhoneInput,
  { leaseId, tellsWindow = false, settles = false }: TouchOptions = {},
) =>
  call('POST /api/v2/devices/:id/input', {
    params: { id: deviceId },
    query: {
      ...(leaseId !== undefined && { lease_id: leaseId }),
      ...(tellsWindow && { tell_window: 'true' }),
      ...(settles && { settle: 'true' }),
    },
    body,
  });

/** Sends touches to the phone one by one. `touch` replaces the way of sending one. */
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
/** Distances of the fingers from the center, as fractions of the screen's shorter side. */
const [nearShare, farShare] = [0.1, 0.35];

/** Returns the position of the second finger: point reflection across the screen's center. */
export const mirrored = ({ x, y }: Point, { width, height }: Size): Point => ({
  x: Math.max(0, width - 1 - x),
  y: Math.max(0, height - 1 - y),
});

/** Returns two fingers mirrored at the center of the screen, one of which moves between the given points. */
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

/** Returns two fingers that spread or pinch at the center of the screen. */
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

/** Controls a phone and takes its lease with the first touch. While recording is on, each touch is written as code. */
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
      const options = { tellsWindow: true, settles: true };
      const { touched_window: touched } = await touchPhone(device.device_id, input, options);
      write(by.write({ input, window: touched, before, after: await readScreen() }));
      setSecrets((known) => new Map([...known, ...by.secrets]));
    } finally {
      setWriting(false);
    }
  };
  const touch = async (input: PhoneInput): Promise<void> => {
    if (!lease.isMine && !(await lease.take()))
      throw new Error(lease.reason ?? 'You do not control this phone.');
    if (recorder === undefined) await touchPhone(device.device_id, input);
    else await record(recorder, input);
  };
  return {
    isOn: recorder !== undefined,
    isWriting,
    /** Passwords typed during the recording, by their names in the code. */
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
