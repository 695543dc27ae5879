import {
  ScrcpyOptions3_3,
  ScrcpyVideoCodecId,
  type ScrcpyMediaStreamPacket,
  type ScrcpyVideoStream,
} from '@yume-chan/scrcpy';
import { BufferedReadableStream, BufferedTransformStream } from '@yume-chan/stream-extra';

const codecBytes = 4;
const headBytes = 12;
const flags = { session: 1n << 63n, configuration: 1n << 62n, key: 1n << 61n } as const;
const timeBits = 61;

/**
 * Reads the streams of scrcpy 4.0 and 4.1, which the library does not support yet. They differ from 3.3: the size of
 * the video is no longer in its head, but in a session packet before the parameters, and the flags of packets moved by
 * one bit. Source: `Streamer.java` of scrcpy 4.1.
 */
export class Scrcpy4Options extends ScrcpyOptions3_3<true> {
  override async parseVideoStreamMetadata(
    stream: Parameters<ScrcpyOptions3_3<true>['parseVideoStreamMetadata']>[0],
  ): Promise<ScrcpyVideoStream> {
    const whole = new BufferedReadableStream(stream);
    await whole.readExactly(codecBytes);
    return { stream: whole.release(), metadata: { codec: ScrcpyVideoCodecId.H264 } };
  }

  override createMediaStreamTransformer(): ReturnType<
    ScrcpyOptions3_3<true>['createMediaStreamTransformer']
  > {
    return new BufferedTransformStream(readPacket);
  }
}

async function readPacket(stream: BufferedReadableStream): Promise<ScrcpyMediaStreamPacket> {
  const head = Buffer.from(await stream.readExactly(headBytes));
  const flagsAndTime = head.readBigUInt64BE();
  // The parameters that follow contain the size too.
  if ((flagsAndTime & flags.session) !== 0n) return readPacket(stream);
  const data = await stream.readExactly(head.readUInt32BE(8));
  if ((flagsAndTime & flags.configuration) !== 0n) return { type: 'configuration', data };
  return {
    type: 'data',
    keyframe: (flagsAndTime & flags.key) !== 0n,
    pts: BigInt.asUintN(timeBits, flagsAndTime),
    data,
  };
}
