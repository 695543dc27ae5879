import { availableMemory } from 'node:process';
import { helperPackages } from '@phalanx/host';
import type { Environment } from '@phalanx/settings';
import { startSimulatedPhone, type SimulatedPhone } from '@phalanx/simulated-phone';

import { notice } from './output/terminal.ts';

const models = ['Pixel 8', 'Galaxy S24', 'Redmi Note 13', 'Xperia 5', 'Moto G84'] as const;
const brands = ['google', 'samsung', 'xiaomi', 'sony', 'motorola'] as const;

const mebibyte = 1024 * 1024;
/** Memory of an idle simulated phone, with its state in host and server. */
const phoneBytes = mebibyte;
/** Memory of server, host, checks and runs besides the phones. */
const serviceBytes = 400 * mebibyte;

/** Returns how many of the wanted simulated phones fit into the free memory. */
export function phonesThatFit(wanted: number, freeBytes: number): number {
  return Math.max(0, Math.min(wanted, Math.floor((freeBytes - serviceBytes) / phoneBytes)));
}

/**
 * Starts phones of several makes, with the same serial numbers at every start, so that they stay the same devices. They
 * have the UI helper, like phones that a host has used before. Starts fewer, with a notice, if memory is short.
 */
export function startSimulatedPhones(wanted: number): Promise<SimulatedPhone[]> {
  const freeBytes = availableMemory();
  const count = phonesThatFit(wanted, freeBytes);
  if (count < wanted) notice(shortageOf({ wanted, count, freeBytes }));
  return Promise.all(
    Array.from({ length: count }, (_, index) =>
      startSimulatedPhone({
        serial: `SIM${String(index + 1).padStart(4, '0')}`,
        brand: brands[index % brands.length] ?? brands[0],
        model: models[index % models.length] ?? models[0],
        installedPackages: helperPackages,
      }),
    ),
  );
}

interface Shortage {
  readonly wanted: number;
  readonly count: number;
  readonly freeBytes: number;
}

function shortageOf({ wanted, count, freeBytes }: Shortage): string {
  const megabytes = (bytes: number): string => `${Math.floor(bytes / mebibyte)} MB`;
  return (
    `Memory is short: ${count} of ${wanted} simulated phones are started. ${megabytes(freeBytes)} are free; the service takes ` +
    `${megabytes(serviceBytes)} and each phone ${megabytes(phoneBytes)}. Close other programs, or start fewer phones.`
  );
}

/** Returns a value of `PHALANX_PHONES` with the operator's phones and these simulated ones. */
export function withPhones(settings: Environment, phones: readonly SimulatedPhone[]): string {
  const simulated = phones.map((phone) => `${phone.host}:${phone.port}`);
  return [settings['PHALANX_PHONES'], ...simulated].filter(Boolean).join(',');
}
