import { isDeepStrictEqual } from 'node:util';
import {
  HostFrameHeader,
  hostConnectPath,
  HostMessage,
  hostProtocolVersion,
  WireLogEntries,
} from '@phalanx/protocol';
import fc, { type Arbitrary } from 'fast-check';
import { WebSocket } from 'ws';

import type { Known } from './api-requests.ts';
import { hostileValue } from './hostile-values.ts';
import { SchemaValues } from './schema-values.ts';
import type { World } from './world.ts';

interface Frame {
  data: Buffer;
  isBinary: boolean;
}

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value) ?? '');
const asText = (arbitrary: Arbitrary<unknown>): Arbitrary<Frame> =>
  arbitrary.map((value) => ({ data: json(value), isBinary: false }));

/** Generates frames of hosts by the protocol's schemas: valid, nearly valid, and arbitrary. */
function framesOf(known: Known): Arbitrary<Frame> {
  const idsOf: Record<string, readonly string[]> = {
    run_id: known.run,
    host_id: known.host,
    device_id: known.device,
  };
  const values = new SchemaValues({
    component: (ref) => ref,
    known: (field) => (field in idsOf ? fc.constantFrom(...(idsOf[field] ?? [])) : undefined),
  });
  const binary = (header: Arbitrary<unknown>, payload: Arbitrary<unknown>): Arbitrary<Frame> =>
    fc.tuple(header, payload).map(([head, body]) => ({
      data: Buffer.concat([json(head), Buffer.from('\n'), json(body)]),
      isBinary: true,
    }));
  const raw = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));
  return fc.oneof(
    { weight: 6, arbitrary: asText(values.fitting(HostMessage)) },
    { weight: 4, arbitrary: asText(values.nearly(HostMessage)) },
    { weight: 1, arbitrary: asText(hostileValue) },
    { weight: 3, arbitrary: binary(values.fitting(HostFrameHeader), values.fitting(WireLogEntries)) },
    { weight: 2, arbitrary: binary(values.nearly(HostFrameHeader), values.nearly(WireLogEntries)) },
    { weight: 1, arbitrary: fc.tuple(raw, fc.boolean()).map(([data, isBinary]) => ({ data, isBinary })) },
  );
}

/** Sends all frames, and reconnects after each that makes the service close the connection. Returns the close codes. */
async function sayAll(world: World, frames: readonly Frame[]): Promise<Set<number>> {
  const codes = new Set<number>();
  const rest = frames.values();
  for (let next = rest.next(); next.done !== true;) {
    const socket = new WebSocket(`${world.url.replace('http', 'ws')}${hostConnectPath}`, {
      headers: { authorization: `Bearer ${world.attacker.token}` },
    });
    const ended = new Promise<number>((resolve) => socket.once('close', resolve));
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    socket.on('error', () => undefined);
    // Most frames get a proper start, because nothing is accepted before it.
    socket.send(
      json({
        type: 'hello',
        protocol_version: hostProtocolVersion,
        host_id: crypto.randomUUID(),
        host_name: 'h',
        devices: [],
        runs: [],
      }).toString(),
    );
    for (let said = 0; next.done !== true && socket.readyState === WebSocket.OPEN && said < 20; said += 1) {
      const { data, isBinary } = next.value;
      await new Promise((resolve) => socket.send(data, { binary: isBinary }, resolve));
      next = rest.next();
    }
    socket.close();
    codes.add(await ended);
  }
  return codes;
}

/** Sends a number of frames as the attacker's hosts. Returns the effects on another user or on the service itself. */
export async function fuzzHosts(
  world: World,
  { seed, frames }: { seed: number; frames: number },
): Promise<string[]> {
  const { known } = await world.renew();
  const before = await world.viewOf(world.victim);
  const codes = await sayAll(world, fc.sample(framesOf(known), { numRuns: frames, seed }));
  const violations: string[] = [];
  if (!isDeepStrictEqual(await world.viewOf(world.victim), before))
    violations.push('changed what another user sees');
  // Code 1011 indicates a bug, 1006 a crash.
  for (const code of codes)
    if ([1006, 1011].includes(code)) violations.push(`a connection ended with ${code}`);
  const bug = /^.*"level":[56]0.*$/m.exec(world.server.output);
  if (bug !== null) violations.push(bug[0].slice(0, 1000));
  return violations;
}
