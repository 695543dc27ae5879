import { calls } from './calls';

/** Checks digests and HMAC. */
export async function ciphers(): Promise<void> {
  const bytes = new TextEncoder().encode('x');
  const algorithm: HmacImportParams = { name: 'HMAC', hash: { name: 'SHA-256' } };
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, true, ['sign', 'verify']);
  await calls<Crypto>('Crypto', {
    subtle: async () => (await crypto.subtle.digest('SHA-256', bytes)).byteLength === 32,
    randomUUID: () => /^[\da-f-]{36}$/.test(crypto.randomUUID()),
    getRandomValues: () => crypto.getRandomValues(new Uint8Array(16)).some((byte) => byte > 0),
  });
  await calls<SubtleCrypto>('SubtleCrypto', {
    digest: async () => (await crypto.subtle.digest('SHA-512', bytes)).byteLength === 64,
    importKey: () => key.type === 'secret',
    exportKey: async () => (await crypto.subtle.exportKey('raw', key)).byteLength === 1,
    sign: async () => (await crypto.subtle.sign('HMAC', key, bytes)).byteLength === 32,
    verify: async () =>
      crypto.subtle.verify('HMAC', key, await crypto.subtle.sign('HMAC', key, bytes), bytes),
  });
  await calls<CryptoKey>('CryptoKey', {
    algorithm: () => key.algorithm.name === 'HMAC',
    extractable: () => key.extractable,
    type: () => key.type === 'secret',
    usages: () => key.usages.join() === 'sign,verify',
  });
  await calls<Algorithm>('Algorithm', {
    name: async () => (await crypto.subtle.digest({ name: 'SHA-1' }, bytes)).byteLength === 20,
  });
  await calls<Pick<HmacImportParams, 'hash'>>('HmacImportParams', {
    hash: () => key.algorithm.hash.name === 'SHA-256',
  });
  await calls<Pick<HmacKeyAlgorithm, 'hash' | 'length'>>('HmacKeyAlgorithm', {
    hash: () => key.algorithm.hash.name === 'SHA-256',
    length: () => key.algorithm.length === 8,
  });
}
