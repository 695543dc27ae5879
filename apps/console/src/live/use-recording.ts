import { TouchRecorder } from '@phalanx/automation/touch-recorder';
import type { Device, PhoneInput } from '@phalanx/protocol';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { screenQuery } from '../screens/screen-tree.ts';
import type { useLease } from './use-lease.ts';
import { touchPhone } from './use-touch.ts';

/** Touches of a phone that somebody takes with the first of them; while it is on, each is written as code. */
export function useRecording(
  device: Device,
  lease: ReturnType<typeof useLease>,
  onCode: (lines: readonly string[]) => void,
) {
  const queries = useQueryClient();
  const [recorder, setRecorder] = useState<TouchRecorder>();
  const [isWriting, setWriting] = useState(false);
  const readScreen = async (): Promise<AndroidNode> =>
    (await queries.fetchQuery({ ...screenQuery(device.device_id), staleTime: 0 })).tree.root;
  const write = (lines: readonly string[]): void => {
    if (lines.length > 0) onCode(lines);
  };
  const record = async (by: TouchRecorder, input: PhoneInput): Promise<void> => {
    setWriting(true);
    try {
      const before = await readScreen();
      await touchPhone(device.device_id, input);
      write(by.write({ input, before, after: await untilSettled(readScreen) }));
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
    touch,
    start: () => setRecorder(new TouchRecorder()),
    stop: () => {
      write(recorder?.end() ?? []);
      setRecorder(undefined);
    },
  };
}

/** What a phone does at a touch has begun after so long, in milliseconds. */
const beginsMs = 200;
const pauseMs = 150;
const mostReads = 12;

/** A screen that two readings in a row show alike; the last one, of a screen that never comes to rest. */
async function untilSettled(
  read: () => Promise<AndroidNode>,
  pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms)),
): Promise<AndroidNode> {
  await pause(beginsMs);
  let last = await read();
  for (let reads = 1; reads < mostReads; reads += 1) {
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
