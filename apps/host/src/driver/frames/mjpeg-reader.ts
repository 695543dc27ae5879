import type { Duplex } from 'node:stream';

// Above any frame of a phone; a length of nonsense must not fill the memory.
const maxFrameBytes = 16 * 1024 * 1024;
const maxHeadBytes = 64 * 1024;
const lengthForm = /content-length: *(\d+)\r\n\r\n/i;

/** The JPEG files of a multipart stream, as the UiAutomator2 server sends them. Ends when the stream breaks or is no such stream. */
export async function* readMjpeg(stream: Duplex): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  let gathered = 0;
  let needed = 0;
  for await (const chunk of stream) {
    if (!Buffer.isBuffer(chunk) && !(chunk instanceof Uint8Array)) return;
    pieces.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    gathered += chunk.byteLength;
    while (gathered > 0 && gathered >= needed) {
      let bytes = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
      if (needed === 0) {
        const head = lengthForm.exec(bytes.toString('latin1', 0, maxHeadBytes));
        if (head === null && gathered > maxHeadBytes) return;
        pieces = [bytes];
        if (head === null) break;
        needed = Number(head[1]);
        if (needed > maxFrameBytes) return;
        bytes = bytes.subarray(head.index + head[0].length);
      } else {
        yield bytes.subarray(0, needed);
        bytes = bytes.subarray(needed);
        needed = 0;
      }
      pieces = [bytes];
      gathered = bytes.length;
    }
  }
}
