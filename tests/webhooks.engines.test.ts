import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@phalanx/host/testing/until';
import { webhookRoutes } from '@phalanx/protocol';
import { Webhook as Checker } from 'standardwebhooks';
import { afterEach, expect, test } from 'vitest';

import { answer, Receiver } from '../apps/server/src/webhooks/testing/receiver.ts';
import { Installation } from './support/installation.ts';

const rounds = 2;
const timeLimitMs = 240_000;

let installation: Installation;
let receiver: Receiver;

afterEach(async () => {
  await receiver.close();
  await installation.stop();
});

test(
  'over kill -9 of the server between a delivery and its acknowledgement no end of a run is lost',
  async () => {
    receiver = await Receiver.start();
    installation = await Installation.start(1, undefined, { PHALANX_WEBHOOK_NETWORKS: '127.0.0.2' });
    const { api } = installation;
    const body = { url: receiver.url, events: ['run.ended' as const] };
    const { webhook, secret } = await api.call(webhookRoutes.create, { body });
    const [device] = await installation.readyDevices();
    const launches: string[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      // The server has sent it, and is not answered.
      receiver.habit = () => undefined;
      const before = receiver.received.length;
      launches.push(await installation.launch(device?.device_id ?? '', 'console.log(1)'));
      await until(
        'a delivery',
        async () => receiver.received.length,
        (now) => now > before,
        60_000,
      );
      await installation.server.end('SIGKILL');
      // What ends meanwhile is told to the next server.
      receiver.habit = answer(200);
      await installation.restartServer();
      await installation.readyDevices();
      launches.push(await installation.launch(device?.device_id ?? '', 'console.log(2)'));
      await sleep(Math.random() * 300);
      await installation.server.end('SIGKILL');
      await installation.restartServer();
      await installation.readyDevices();
    }
    const listStatuses = async (): Promise<string[]> => {
      const reply = await api.call(webhookRoutes.listDeliveries, { params: { id: webhook.id }, query: {} });
      return reply.deliveries.map(({ status }) => status);
    };
    const isDone = (statuses: string[]): boolean =>
      statuses.length === launches.length && statuses.every((status) => status === 'delivered');
    await until('all deliveries', listStatuses, isDone, 120_000);
    for (const launchId of launches) {
      const told = receiver.about('launch_id', launchId);
      expect(told.length, launchId).toBeGreaterThan(0);
      expect(new Set(told.map(({ signed }) => signed['webhook-id'])).size, launchId).toBe(1);
      for (const { text, signed } of told) new Checker(secret ?? '').verify(text, signed);
    }
    const [first] = launches;
    // It was sent, and sent again, because nobody knew whether it had arrived.
    expect(receiver.about('launch_id', first).length).toBeGreaterThan(1);
  },
  timeLimitMs,
);
