import { pageBytes, type HostMessage } from '@phalanx/protocol';

export type Hello = Extract<HostMessage, { type: 'hello' }>;

/** Splits items into pages that fit into messages to the server, whatever the items contain. */
export function inPages<Item>(items: readonly Item[]): Item[][] {
  const pages: Item[][] = [];
  let room = 0;
  for (const item of items) {
    const bytes = Buffer.byteLength(JSON.stringify(item)) + 1;
    const last = room >= bytes ? pages.at(-1) : undefined;
    if (last === undefined) pages.push([item]);
    else last.push(item);
    room = (last === undefined ? pageBytes : room) - bytes;
  }
  return pages;
}

/** Splits a `hello` into messages. Most hosts need only one. */
export function pagesOfHello(hello: Hello): HostMessage[] {
  const [devices = [], ...moreDevices] = inPages(hello.devices);
  const [runs = [], ...moreRuns] = inPages(hello.runs);
  const rest = [
    ...moreDevices.map((page) => ({ devices: page, runs: [] })),
    ...moreRuns.map((page) => ({ devices: [], runs: page })),
  ];
  const more = rest.map((page, index) => {
    const isLast = index === rest.length - 1;
    return { type: 'hello_more' as const, ...page, ...(isLast ? {} : { more: true }) };
  });
  return [{ ...hello, devices, runs, ...(more.length > 0 ? { more: true } : {}) }, ...more];
}
