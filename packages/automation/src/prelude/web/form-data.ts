import { fromByteString, toByteString } from '../port.ts';
import { bytesOfBlob, joined, PlainBlob, PlainFile } from './blobs.ts';

export class PlainFormData implements FormData {
  #entries: [string, FormDataEntryValue][] = [];

  constructor(form?: unknown) {
    if (form !== undefined) throw new TypeError('FormData takes no form: append its values.');
  }

  append(name: string, value: string | Blob, filename?: string): void {
    this.#entries.push(entryOf(name, value, filename));
  }

  delete(name: string): void {
    this.#entries = this.#entries.filter(([known]) => known !== String(name));
  }

  get(name: string): FormDataEntryValue | null {
    return this.#entries.find(([known]) => known === String(name))?.[1] ?? null;
  }

  getAll(name: string): FormDataEntryValue[] {
    return this.#entries.filter(([known]) => known === String(name)).map(([, value]) => value);
  }

  has(name: string): boolean {
    return this.#entries.some(([known]) => known === String(name));
  }

  /** Replaces the first entry of the name and removes the others. */
  set(name: string, value: string | Blob, filename?: string): void {
    const entry = entryOf(name, value, filename);
    const at = this.#entries.findIndex(([known]) => known === entry[0]);
    if (at < 0) this.#entries.push(entry);
    else
      this.#entries = this.#entries
        .with(at, entry)
        .filter(([known], index) => index <= at || known !== entry[0]);
  }

  forEach(
    callback: (value: FormDataEntryValue, name: string, form: FormData) => void,
    thisArg?: unknown,
  ): void {
    for (const [name, value] of this) Reflect.apply(callback, thisArg, [value, name, this]);
  }

  *entries(): IterableIterator<[string, FormDataEntryValue]> {
    for (const [name, value] of this.#entries) yield [name, value];
  }

  *keys(): IterableIterator<string> {
    for (const [name] of this.#entries) yield name;
  }

  *values(): IterableIterator<FormDataEntryValue> {
    for (const [, value] of this.#entries) yield value;
  }

  [Symbol.iterator](): IterableIterator<[string, FormDataEntryValue]> {
    return this.entries();
  }
}

function entryOf(name: string, value: string | Blob, filename?: string): [string, FormDataEntryValue] {
  const key = String(name).toWellFormed();
  if (!(value instanceof PlainBlob)) {
    if (filename !== undefined) throw new TypeError('Only a Blob or a File in a FormData has a file name.');
    // oxlint-disable-next-line typescript/no-base-to-string -- as the standard does with what is no blob
    return [key, String(value).toWellFormed()];
  }
  if (value instanceof PlainFile && filename === undefined) return [key, value];
  const lastModified = value instanceof PlainFile ? value.lastModified : Date.now();
  return [key, new PlainFile([value], filename ?? 'blob', { type: value.type, lastModified })];
}

/** Encodes a form as `multipart/form-data` (RFC 7578), as the Fetch standard writes it. */
export function encodeForm(form: FormData): { bytes: Uint8Array<ArrayBuffer>; contentType: string } {
  const boundary = `----formdata-phalanx-${crypto.randomUUID()}`;
  const encoder = new TextEncoder();
  const parts: Uint8Array[] = [];
  for (const [name, value] of form) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(withLineEnds(name))}"`;
    if (value instanceof PlainFile) {
      const type = value.type === '' ? 'application/octet-stream' : value.type;
      const file = `; filename="${escaped(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`;
      parts.push(encoder.encode(head + file), bytesOfBlob(value), encoder.encode('\r\n'));
    } else if (typeof value === 'string')
      parts.push(encoder.encode(`${head}\r\n\r\n${withLineEnds(value)}\r\n`));
  }
  parts.push(encoder.encode(`--${boundary}--\r\n`));
  return { bytes: joined(parts), contentType: `multipart/form-data; boundary=${boundary}` };
}

const withLineEnds = (text: string): string => text.replaceAll(/\r\n|\r|\n/g, '\r\n');

const escapes: Record<string, string> = { '\r': '%0D', '\n': '%0A', '"': '%22' };
const escaped = (name: string): string => name.replaceAll(/[\r\n"]/g, (mark) => escapes[mark] ?? mark);

/** Parses a body of this content type. Throws a `TypeError` if it is not a form. */
export function decodeForm(bytes: Uint8Array<ArrayBuffer>, contentType: string): FormData {
  const [type = ''] = contentType.toLowerCase().split(';');
  const form = new PlainFormData();
  if (type.trim() === 'application/x-www-form-urlencoded') {
    for (const [name, value] of new URLSearchParams(new TextDecoder().decode(bytes)))
      form.append(name, value);
    return form;
  }
  const boundary = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType);
  if (type.trim() !== 'multipart/form-data' || boundary === null)
    throw new TypeError(`The body is no form: its content type is ${JSON.stringify(contentType)}.`);
  for (const part of splitParts(bytes, boundary[1] ?? boundary[2] ?? '')) addPart(form, part);
  return form;
}

/** Splits a body at its boundaries into byte strings. */
function splitParts(bytes: Uint8Array, boundary: string): string[] {
  const [, ...parts] = `\r\n${toByteString(bytes)}`.split(`\r\n--${boundary}`);
  if (parts.pop()?.startsWith('--') !== true) throw new TypeError('The form in the body has no end.');
  return parts;
}

function addPart(form: FormData, part: string): void {
  const headEnd = part.indexOf('\r\n\r\n');
  const head = part.slice(0, headEnd);
  const name = /\bname="([^"]*)"/i.exec(head)?.[1];
  if (headEnd < 0 || name === undefined) throw new TypeError('A part of the form in the body has no name.');
  const content = fromByteString(part.slice(headEnd + 4));
  const filename = /\bfilename="([^"]*)"/i.exec(head)?.[1];
  if (filename === undefined) return form.append(textOf(name), new TextDecoder().decode(content));
  const type = /^content-type:[\t ]*(\S[^\r\n]*)/im.exec(head)?.[1] ?? 'text/plain';
  form.append(textOf(name), new PlainFile([content], textOf(filename), { type }));
}

const marks: Record<string, string> = { '%0D': '\r', '%0A': '\n', '%22': '"' };

const textOf = (byteString: string): string =>
  new TextDecoder()
    .decode(fromByteString(byteString))
    .replaceAll(/%0D|%0A|%22/gi, (code) => marks[code.toUpperCase()] ?? code);
