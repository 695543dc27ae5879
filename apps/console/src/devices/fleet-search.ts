import { stateLooks, type DeviceState } from './device-state.tsx';

/** What the address says of the fleet page. */
export interface FleetSearch {
  q?: string;
  state?: DeviceState;
  host?: string;
  view?: 'wall';
  pictures?: true;
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined;

export function fleetSearch(given: Record<string, unknown>): FleetSearch {
  const [q, host, stateText] = [textOf(given['q']), textOf(given['host']), textOf(given['state'])];
  const state = Object.keys(stateLooks).find((name): name is DeviceState => name === stateText);
  return {
    ...(q === undefined ? {} : { q }),
    ...(state === undefined ? {} : { state }),
    ...(host === undefined ? {} : { host }),
    ...(given['view'] === 'wall' ? { view: 'wall' } : {}),
    ...(given['pictures'] === true ? { pictures: true } : {}),
  };
}
