import type { Duplex } from 'node:stream';

/** The reader of an output went away. */
export class BrokenPipeError extends Error {
  override readonly name = 'BrokenPipeError';
}

/** Writes and waits for room. Rejects with BrokenPipeError when the stream is, or becomes, closed. */
export async function writeTo(stream: Duplex, data: Buffer): Promise<void> {
  if (stream.destroyed || stream.writableEnded) throw new BrokenPipeError('Broken pipe');
  if (stream.write(data)) return;
  await new Promise<void>((resolve, reject) => {
    const settle = () => {
      stream.off('drain', settle);
      stream.off('close', settle);
      if (stream.destroyed) reject(new BrokenPipeError('Broken pipe'));
      else resolve();
    };
    stream.on('drain', settle);
    stream.on('close', settle);
  });
}
