import { type Port, fromByteString } from '../port.ts';
import { createSubtle } from './digests.ts';

const maxBytes = 65_536;

/** Creates `crypto` with secure random bytes from the child. */
export function createCrypto(port: Port): Crypto {
  const randomBytes = (sizeBytes: number): Uint8Array =>
    fromByteString(String(port.ask('random', { sizeBytes })));
  return {
    subtle: createSubtle(port),
    getRandomValues(array) {
      if (!ArrayBuffer.isView(array) || array instanceof DataView || isFloat(array))
        throw new TypeError('getRandomValues fills arrays of integers, such as Uint8Array.');
      if (array.byteLength > maxBytes)
        throw new DOMException(
          `getRandomValues fills at most ${maxBytes} bytes at a time.`,
          'QuotaExceededError',
        );
      const target = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      target.set(randomBytes(array.byteLength));
      return array;
    },
    randomUUID() {
      const bytes = randomBytes(16);
      const hex = [...bytes]
        .map((byte, index) => versioned(byte, index).toString(16).padStart(2, '0'))
        .join('');
      const [start, end] = [hex.slice(0, 8), hex.slice(20)];
      return `${start}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${end}`;
    },
  };
}

/** Sets version and variant of a version 4 UUID in bytes 6 and 8 (RFC 9562). */
function versioned(byte: number, index: number): number {
  if (index === 6) return (byte & 0x0f) | 0x40;
  return index === 8 ? (byte & 0x3f) | 0x80 : byte;
}

function isFloat(array: ArrayBufferView): boolean {
  return Object.prototype.toString.call(array).startsWith('[object Float');
}
