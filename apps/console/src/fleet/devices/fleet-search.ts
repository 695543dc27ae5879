import { stateLooks, type DeviceState } from './device.tsx';

/** Search parameters of the fleet page. */
export interface FleetSearch {
  q?: string;
  state?: DeviceState;
  host?: string;
  /** Selector of phones. */
  labels?: string;
  /** Whether only phones that need attention are shown. */
  attention?: true;
  sort?: FleetSort;
  descending?: true;
  view?: 'wall';
  /** Whether the wall shows pictures. Default: true. */
  pictures?: false;
}

const sorts = ['name', 'serial', 'state', 'since', 'host', 'battery', 'android'] as const;
export type FleetSort = (typeof sorts)[number];

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined;

export function fleetSearch(given: Record<string, unknown>): FleetSearch {
  const [q, host, labels] = [textOf(given['q']), textOf(given['host']), textOf(given['labels'])];
  const stateText = textOf(given['state']);
  const state = Object.keys(stateLooks).find((name): name is DeviceState => name === stateText);
  const sort = sorts.find((one) => one === given['sort']);
  return {
    ...(given['attention'] === true ? { attention: true } : {}),
    ...(sort === undefined ? {} : { sort }),
    ...(sort !== undefined && given['descending'] === true ? { descending: true } : {}),
    ...(q === undefined ? {} : { q }),
    ...(state === undefined ? {} : { state }),
    ...(host === undefined ? {} : { host }),
    ...(labels === undefined ? {} : { labels }),
    ...(given['view'] === 'wall' ? { view: 'wall' } : {}),
    ...(given['pictures'] === false ? { pictures: false } : {}),
  };
}

/** Search parameters of a phone's page. */
interface DeviceSearch {
  tab?: 'control' | 'runs' | 'about';
}

export function deviceSearch({ tab: given }: Record<string, unknown>): DeviceSearch {
  const tab = (['control', 'runs', 'about'] as const).find((one) => one === given);
  return tab === undefined ? {} : { tab };
}
