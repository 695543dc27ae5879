import type { ServiceEvent } from '@phalanx/protocol';
import { createParser } from 'eventsource-parser';

import type { Operations } from './operations.ts';
import { ServiceUnreachable } from './service-errors.ts';

/** Events about state that can be read again after a broken connection. */
export type FollowedEvent = Extract<ServiceEvent, { type: 'device' | 'run' | 'log' }>;

export const followedTypes = ['device', 'run', 'log'] as const satisfies readonly FollowedEvent['type'][];

export interface EventFilter {
  readonly types: readonly FollowedEvent['type'][];
  readonly deviceId?: string | undefined;
  readonly automationId?: string | undefined;
}

export type EventStream = AsyncGenerator<FollowedEvent, void, undefined>;

/**
 * Timeout of a silent stream, in milliseconds. The service sends something at least every 15 s, and a network break
 * farther away closes no connection.
 */
const silenceMs = 40_000;

/**
 * Opens a stream of events. Resolves when the service has begun to send: later changes arrive as events. The stream
 * throws when the connection breaks, and ends when the service ends it.
 */
export async function openEventStream(
  api: Pick<Operations, 'events'>,
  { types, deviceId, automationId }: EventFilter,
  signal: AbortSignal,
): Promise<EventStream> {
  const query = {
    types: types.join(','),
    ...(deviceId === undefined ? {} : { device_id: deviceId }),
    ...(automationId === undefined ? {} : { automation_id: automationId }),
  };
  return readStream(await api.events({ query }, { signal }));
}

async function* readStream(response: Response): EventStream {
  const reader = (response.body ?? new ReadableStream<Uint8Array>()).getReader();
  const decoder = new TextDecoder();
  const ready: FollowedEvent[] = [];
  const parser = createParser({
    onEvent({ event, data }) {
      const parsed: unknown = JSON.parse(data);
      if (event === 'error') throw new ServiceUnreachable('The service has ended the stream of events.');
      // The service builds events from the same contract.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const received = { type: event, ...(parsed as object) } as ServiceEvent;
      if (isFollowed(received)) ready.push(received);
    },
  });
  try {
    for (;;) {
      const { done, value } = await withinSilence(readPart(reader));
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* ready.splice(0);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

const readPart = (
  reader: ReadableStreamDefaultReader<Uint8Array>,
): Promise<ReadableStreamReadResult<Uint8Array>> =>
  reader.read().catch((error: unknown) => {
    throw new ServiceUnreachable('The stream of events broke off.', { cause: error });
  });

const isFollowed = (event: ServiceEvent): event is FollowedEvent =>
  followedTypes.some((type) => type === event.type);

async function withinSilence<Result>(reading: Promise<Result>): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ServiceUnreachable('The stream of events is silent.')), silenceMs);
  });
  try {
    return await Promise.race([reading, silence]);
  } finally {
    clearTimeout(timer);
  }
}
