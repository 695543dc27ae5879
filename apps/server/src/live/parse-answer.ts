const lineFeed = 0x0a;
const maxHeadBytes = 64 * 1024;

/** The JSON in front of an answer's line feed, and the bytes after it. */
export function parseAnswer<Head>(
  answer: Buffer,
  validator: { Check(value: unknown): value is Head },
): { head: Head; bytes: Buffer } {
  const end = answer.subarray(0, maxHeadBytes).indexOf(lineFeed);
  const head = parseJson(answer.toString('utf8', 0, Math.max(end, 0)));
  if (validator.Check(head)) return { head, bytes: answer.subarray(end + 1) };
  throw new Error('its host answered with something else');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
