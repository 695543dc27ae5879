/** What the address says of a phone's page. */
export interface DeviceSearch {
  tab?: 'control' | 'runs' | 'about';
}

export function deviceSearch({ tab: given }: Record<string, unknown>): DeviceSearch {
  const tab = (['control', 'runs', 'about'] as const).find((one) => one === given);
  return tab === undefined ? {} : { tab };
}
