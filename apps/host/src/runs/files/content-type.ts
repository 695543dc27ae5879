/** Of the files that automations make most. */
const types: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  gif: 'image/gif',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  jsonl: 'application/jsonl',
  log: 'text/plain',
  md: 'text/markdown',
  mp4: 'video/mp4',
  pdf: 'application/pdf',
  png: 'image/png',
  txt: 'text/plain',
  webp: 'image/webp',
  xml: 'application/xml',
  zip: 'application/zip',
};

/** What a file is by its name. */
export function contentTypeOf(name: string, isText: boolean): string {
  const end = name.split('.').at(-1)?.toLowerCase() ?? '';
  if (name.includes('.') && Object.hasOwn(types, end)) return types[end] ?? '';
  return isText ? 'text/plain' : 'application/octet-stream';
}
