/** Devices' IDs with their serial numbers. */
export type NamesOf = (deviceIds: readonly string[]) => Promise<(deviceId: string) => string>;
