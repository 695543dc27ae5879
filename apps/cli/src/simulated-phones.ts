import type { Environment } from '@phalanx/settings';
import { startSimulatedPhone, type SimulatedPhone } from '@phalanx/simulated-phone';

const models = ['Pixel 8', 'Galaxy S24', 'Redmi Note 13', 'Xperia 5', 'Moto G84'] as const;
const brands = ['google', 'samsung', 'xiaomi', 'sony', 'motorola'] as const;

/** Phones of several makes, with the same serials at every start, so that they stay the same devices. */
export function startSimulatedPhones(count: number): Promise<SimulatedPhone[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) =>
      startSimulatedPhone({
        serial: `SIM${String(index + 1).padStart(4, '0')}`,
        brand: brands[index % brands.length] ?? brands[0],
        model: models[index % models.length] ?? models[0],
      }),
    ),
  );
}

/** The phones that the operator names, and these: a value of `PHALANX_PHONES`. */
export function withPhones(settings: Environment, phones: readonly SimulatedPhone[]): string {
  const simulated = phones.map((phone) => `${phone.host}:${phone.port}`);
  return [settings['PHALANX_PHONES'], ...simulated].filter(Boolean).join(',');
}
