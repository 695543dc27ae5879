import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readShellOutput, readTail } from './phone-shell.ts';

const frame = (id: number, data: Uint8Array): Buffer => {
  const header = Buffer.alloc(5);
  header[0] = id;
  header.writeUInt32LE(data.length, 1);
  return Buffer.concat([header, data]);
};

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

describe('the output of a shell command', () => {
  it('tells standard output, error and exit code apart however the bytes are cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 40 }),
        fc.uint8Array({ maxLength: 40 }),
        fc.integer({ min: 1, max: 30 }),
        async (out, err, size) => {
          const bytes = Buffer.concat([
            frame(1, out),
            frame(2, err),
            frame(9, out),
            frame(1, err),
            frame(3, Buffer.from([7])),
          ]);
          const { stdout, stderr, exitCode } = await readShellOutput(inPieces(bytes, size));
          expect(stdout.equals(Buffer.concat([out, err]))).toBe(true);
          expect(stderr.equals(Buffer.from(err))).toBe(true);
          expect(exitCode).toBe(7);
        },
      ),
    );
  });

  it('has no exit code when the stream was cut', async () => {
    expect(
      (await readShellOutput(inPieces(frame(1, Buffer.from('half')).subarray(0, 7), 3))).exitCode,
    ).toBeUndefined();
  });

  it('stops reading a phone that prints without end', async () => {
    const endless = async function* (): AsyncGenerator<Uint8Array> {
      const chunk = frame(1, Buffer.alloc(1024 * 1024));
      for (;;) yield chunk;
    };
    await expect(readShellOutput(endless())).rejects.toThrow('printed more than');
  });
});

describe('the tail of a log', () => {
  it('keeps the end of a long output and survives a broken connection', async () => {
    const broken = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from(`${'x'.repeat(10_000)}the end`);
      throw new Error('unplugged');
    };
    const tail = await readTail(broken());
    expect(tail.endsWith('the end')).toBe(true);
    expect(tail.length).toBeLessThan(5000);
  });
});
