import { expect, test } from 'vitest';
import { adbCommand } from './adb-message.ts';
import { createAdbStream } from './adb-connection.ts';

/** Stream whose peer is still silent, and the payloads sent to the peer. */
function openStream(maxPayloadBytes: number) {
  const sent: string[] = [];
  const stream = createAdbStream({
    localId: 1,
    remoteId: 2,
    maxPayloadBytes,
    send: (command, _localId, _remoteId, payload) => {
      if (command === adbCommand.wrte) sent.push(String(payload));
    },
    onClosed: () => {},
  });
  return { stream, duplex: stream.duplex, sent };
}

test('what is written while the stream is corked leaves in one WRTE', () => {
  const { duplex, sent } = openStream(1024);
  duplex.cork();
  duplex.write('head, ');
  duplex.write('body');
  duplex.uncork();
  expect(sent).toEqual(['head, body']);
});

test('what is written before the OKAY follows it in one WRTE', () => {
  const { duplex, stream, sent } = openStream(1024);
  for (const text of ['one', 'two', 'three']) duplex.write(text);
  expect(sent).toEqual(['one']);
  stream.handleOkay();
  expect(sent).toEqual(['one', 'twothree']);
});

test('a burst above the limit of the peer leaves in pieces, each after an OKAY, and is done after the last', () => {
  const { duplex, stream, sent } = openStream(4);
  const done: string[] = [];
  duplex.cork();
  duplex.write('abc', () => done.push('first'));
  duplex.write('def', () => done.push('second'));
  duplex.uncork();
  expect(sent).toEqual(['abcd']);
  stream.handleOkay();
  expect(sent).toEqual(['abcd', 'ef']);
  expect(done).toEqual([]);
  stream.handleOkay();
  expect(done).toEqual(['first', 'second']);
});
