/** Bytes cross the port as strings whose every character is one byte. */
const chunkBytes = 8192;

export function toByteString(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let start = 0; start < bytes.length; start += chunkBytes)
    parts.push(String.fromCharCode(...bytes.subarray(start, start + chunkBytes)));
  return parts.join('');
}

export function fromByteString(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index += 1) bytes[index] = text.charCodeAt(index);
  return bytes;
}
