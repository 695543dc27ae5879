import type { PhoneInput } from '@phalanx/protocol';
import { useEffect, useMemo } from 'react';

import { call } from '../api/call.ts';
import { notifyFailure } from '../parts/notices.tsx';

/** What is typed within this time goes as one text. */
const gatherMs = 150;

/** Touches a phone, one thing after the other, in the order in which somebody did them. */
class Touches {
  readonly #deviceId: string;
  #last = Promise.resolve();
  #series = { isOver: false };
  #typed = '';
  #timer: number | undefined;

  constructor(deviceId: string) {
    this.#deviceId = deviceId;
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
      await call('POST /api/v2/devices/:id/input', { params: { id: this.#deviceId }, body });
    };
    this.#last = this.#last.then(touch).catch((error: unknown) => {
      series.isOver = true;
      this.#series = { isOver: false };
      notifyFailure('The phone was not touched', error);
    });
  }
}

export function useTouch(deviceId: string): Touches {
  const touches = useMemo(() => new Touches(deviceId), [deviceId]);
  useEffect(() => () => touches.flush(), [touches]);
  return touches;
}
