import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { InProcessNetwork } from '../../../storage/bus/in-process-network.ts';
import { FaultMonitor } from '../../../kernel/faults/fault-monitor.ts';
import { Peers } from '../../../storage/nodes/peers.ts';
import { EventBus, type FeedEvent } from '../event-bus.ts';

export function openEventBus(): EventBus {
  const bus = new InProcessNetwork().join();
  const peers = new Peers({ bus, nodeId: 'node', listOthers: async () => [] });
  const events = new EventBus({
    bus,
    peers,
    nodeId: 'node',
    faults: new FaultMonitor({ log: pino({ level: 'silent' }) }),
  });
  onTestFinished(() => events.close());
  return events;
}

export const eventOf = (data: string): FeedEvent => ({
  type: 'log',
  userId: 'u',
  deviceId: 'd',
  automationId: null,
  data,
  lastId: '',
});
