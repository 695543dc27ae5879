import { validate, version } from 'uuid';

export const isUuidV7 = (id: string): boolean => validate(id) && version(id) === 7;

/** The time in a UUIDv7 (RFC 9562, section 5.7), epoch ms. */
export const timeOfUuidV7 = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
