export interface Address {
  readonly host: string;
  readonly port: number;
}

export const formatAddress = ({ host, port }: Address): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
