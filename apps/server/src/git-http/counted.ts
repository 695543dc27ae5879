import { Transform } from 'node:stream';

/** The count is told in steps of so much. */
const stepBytes = 4 * 1024 * 1024;

/** Passes a stream on and tells how many bytes it had, piece by piece; what `count` throws ends it. */
export function counted(count: (bytes: number) => Promise<void>): Transform {
  let untold = 0;
  const tell = (done: (error?: Error | null, chunk?: Buffer) => void, chunk?: Buffer): void => {
    const bytes = untold;
    untold = 0;
    count(bytes).then(
      () => done(null, chunk),
      (error: unknown) => done(error instanceof Error ? error : new Error('refused', { cause: error })),
    );
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      untold += chunk.length;
      if (untold < stepBytes) done(null, chunk);
      else tell(done, chunk);
    },
    flush: (done) => tell(done),
  });
}
