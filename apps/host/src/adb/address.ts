/** Where a TCP socket goes. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

export function formatAddress({ host, port }: Address): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
