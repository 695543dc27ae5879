import { expect, it } from 'vitest';

import { TestServer } from '../testing/test-server.ts';

it('the figures have names that Prometheus takes: a counter is a total, and nothing else is', async () => {
  const server = await TestServer.start();
  const { text } = await server.api('GET', '/metrics');
  await server.dispose();
  const figures = [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)];
  expect(figures.length).toBeGreaterThan(20);
  const misnamed = figures.filter(([, name, type]) => name?.endsWith('_total') !== (type === 'counter'));
  expect(misnamed.map(([line]) => line)).toEqual([]);
  for (const line of [
    'tasks{status="waiting"} 0',
    'schedules{state="active"} 0',
    'webhook_messages{state="outbox"} 0',
  ])
    expect(text).toContain(`phalanx_${line}`);
});
