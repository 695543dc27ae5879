import { randomUUID } from 'node:crypto';
import { type CompactLine, readCompact } from '@phalanx/protocol';
import { expect, it } from 'vitest';
import { serial, useTestHost } from '../../testing/test-host.ts';

const host = useTestHost();

type Question = { type: 'screen'; width: number } | { type: 'node'; node: Pick<CompactLine, 'identity'> };

async function ask(question: Question) {
  const request_id = randomUUID();
  host.service.send({ ...question, request_id, serial });
  const isAnswer = (arrival: (typeof host.service.arrivals)[number]): boolean =>
    'requestId' in arrival && arrival.requestId === request_id;
  await host.service.until(() => host.service.arrivals.some(isAnswer));
  const found = host.service.arrivals.find(isAnswer);
  if (found !== undefined && 'bytes' in found) return JSON.parse(found.bytes.toString());
  throw new Error(JSON.stringify(found));
}

it('says what would get a touch of a node in its place', async () => {
  const { android } = host.phone;
  android.startActivity('com.android.settings');
  const { lines } = readCompact(await ask({ type: 'screen', width: 100 }));
  const obstacleOf = async (text: string): Promise<unknown> => {
    const line = lines.find(({ texts }) => texts.includes(text));
    if (line === undefined) throw new Error(`${text} is not on the screen`);
    return (await ask({ type: 'node', node: { identity: line.identity } })).touch_obstacle;
  };
  expect(await obstacleOf('Settings')).toBeNull();
  android.postHeadsUp({ packageName: 'dev.phalanx.sample.form', title: 'Ann', text: 'Hello' }, 60_000);
  expect(await obstacleOf('Settings')).toContain('com.android.systemui lies over the TextView');
  expect(await obstacleOf('Display')).toBeNull();
});
