import { queryOptions } from '@tanstack/react-query';

import { call } from '../api/call.ts';

const everyMs = 3000;
const mostAtOnce = 4;
const waiting: (() => void)[] = [];
let underWay = 0;

/** Phones are asked a few at a time, so that a wall of them leaves room for everything else. */
async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  if (underWay >= mostAtOnce) await new Promise<void>((resolve) => waiting.push(resolve));
  underWay += 1;
  try {
    return await work();
  } finally {
    underWay -= 1;
    waiting.shift()?.();
  }
}

/** What a phone shows, small, for as long as somebody looks. */
export const smallPictureQuery = (deviceId: string) =>
  queryOptions({
    queryKey: ['small-picture', deviceId],
    queryFn: ({ signal }) =>
      inTurn(async () => {
        const input = { params: { id: deviceId }, query: { width: 240 } };
        const { screen } = await call('GET /api/v2/devices/:id/screen', input, { signal });
        const { picture, captured_at: capturedAt } = screen;
        const source = picture === null ? undefined : `data:${picture.mime_type};base64,${picture.base64}`;
        return { source, capturedAt };
      }),
    refetchInterval: everyMs,
    retry: false,
    gcTime: 30_000,
  });
