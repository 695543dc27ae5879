import type { Duplex } from 'node:stream';

/** Thrown when the reader of an output has closed it. */
export class BrokenPipeError extends Error {
  override readonly name = 'BrokenPipeError';
}

/** Writes data and waits for capacity. Rejects with BrokenPipeError if the stream is closed or closes. */
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
