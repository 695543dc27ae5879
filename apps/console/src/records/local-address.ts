/**
 * The service writes whole addresses of captures, under the name that it listens on; this browser may have come by
 * another one, and its policy allows only that.
 */
export function localAddress(address: string): string {
  const { pathname, search } = new URL(address, window.location.href);
  return `${pathname}${search}`;
}
