import { LRUCache } from 'lru-cache';

/**
 * Keeps the most recently used entries. `max` of LRUCache allocates room for all of them at once; this grows as it is
 * filled, so that a server without many users is small and starts quickly.
 */
export const boundedCache = <Value extends object | string | number | boolean>(
  maxEntries: number,
): LRUCache<string, Value> => new LRUCache({ maxSize: maxEntries, sizeCalculation: () => 1 });
