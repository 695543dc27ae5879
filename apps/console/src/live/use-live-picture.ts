import type { LiveMessage } from '@phalanx/protocol';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

import { liveEvents } from '../api/live-events.ts';

export interface LivePicture {
  /** Of the newest picture; it stays when there is none now. */
  readonly address: string | undefined;
  /** Of the screen, in whose pixels it is touched. */
  readonly width: number;
  readonly height: number;
  readonly capturedAt: number | undefined;
  /** Why there is nothing new. */
  readonly note: string | undefined;
}

const nothingYet: LivePicture = {
  ...{ address: undefined, width: 0, height: 0, capturedAt: undefined, note: undefined },
};
const retryMs = 1000;
const lost = 'The connection is lost. Trying again…';
const closedForGood = new Map([
  [4003, 'Your sign-in has ended.'],
  [4004, 'The phone is no longer shared with you.'],
]);

/** Asks for a picture when the last one is shown, so that a slow browser or a hidden tab asks for fewer. */
function follow(
  deviceId: string,
  change: (parts: Partial<LivePicture>) => void,
  onEnded: () => void,
): () => void {
  const { protocol, host } = window.location;
  const address = `${protocol === 'https:' ? 'wss' : 'ws'}://${host}/api/v2/devices/${encodeURIComponent(deviceId)}/live`;
  let socket: WebSocket;
  let timer: number | undefined;
  let shown: string | undefined;
  let frame: { captured_at: number; width: number; height: number } | undefined;
  const askSoon = (): void =>
    void requestAnimationFrame(() => {
      if (socket.readyState === WebSocket.OPEN) socket.send('{"type":"next"}');
    });
  const show = (picture: Blob): void => {
    const last = shown;
    shown = URL.createObjectURL(picture);
    const { captured_at: capturedAt = Date.now(), width = 0, height = 0 } = frame ?? {};
    change({ address: shown, width, height, capturedAt, note: undefined });
    if (last !== undefined) window.setTimeout(() => URL.revokeObjectURL(last), retryMs);
    askSoon();
  };
  const hear = (message: LiveMessage): void => {
    if (message.type === 'frame') frame = message;
    else askSoon();
    if (message.type === 'still') change({ capturedAt: message.captured_at, note: undefined });
    if (message.type === 'nothing') change({ note: message.reason });
  };
  /** While the event stream of the page has no service, there is none here either. */
  const openWhenLive = (): void => {
    if (liveEvents.state.get() === 'live') open();
  };
  const open = (): void => {
    socket = new WebSocket(address);
    socket.onopen = askSoon;
    socket.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (data instanceof Blob) show(data);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the service writes messages by the same contract
      else hear(JSON.parse(String(data)) as LiveMessage);
    };
    socket.onclose = ({ code }) => {
      const ended = closedForGood.get(code);
      change({ note: ended ?? lost });
      if (ended === undefined) timer = window.setTimeout(openWhenLive, retryMs);
      else onEnded();
    };
  };
  const leave = (): void => {
    window.clearTimeout(timer);
    socket.onclose = null;
    socket.onmessage = null;
    socket.close();
  };
  open();
  // A cut far away closes no socket; the event stream finds it out for the whole page.
  const stopFollowing = liveEvents.state.subscribe(() => {
    const isLost = liveEvents.state.get() !== 'live';
    if (document.hidden || (!isLost && socket.readyState === WebSocket.OPEN)) return;
    leave();
    if (isLost) change({ note: lost });
    else timer = window.setTimeout(open, 0);
  });
  return () => {
    stopFollowing();
    leave();
    if (shown !== undefined) URL.revokeObjectURL(shown);
  };
}

/** What a phone shows, as long as the component is there. */
export function useLivePicture(deviceId: string): LivePicture {
  const queries = useQueryClient();
  const [picture, setPicture] = useState(nothingYet);
  useEffect(
    () =>
      follow(
        deviceId,
        (parts) => setPicture((known) => ({ ...known, ...parts })),
        () => void queries.invalidateQueries(),
      ),
    [deviceId, queries],
  );
  return picture;
}
