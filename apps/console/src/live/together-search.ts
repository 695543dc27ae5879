/** What the address says of the phones that are controlled together. */
export interface TogetherSearch {
  /** Their IDs, with commas between them. */
  phones?: string;
}

export function togetherSearch(given: Record<string, unknown>): TogetherSearch {
  const phones = given['phones'];
  return typeof phones === 'string' && phones !== '' ? { phones } : {};
}
