import { fromByteString, toByteString, type Hash, type Port } from '../port.ts';
import { bytesOf, joined } from './blobs.ts';
import { renamed } from './events.ts';

/** Maximum number of bytes, the same as for a `fetch` body. */
const maxBytes = 50 * 1024 * 1024;
const hashes: readonly Hash[] = ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512'];

const constructing = Symbol('constructing');
const bytesOfKey = new WeakMap<CryptoKey, Uint8Array<ArrayBuffer>>();

class PlainCryptoKey implements CryptoKey {
  readonly type = 'secret';
  readonly extractable: boolean;
  readonly algorithm: HmacKeyAlgorithm;
  readonly usages: KeyUsage[];

  constructor(key: symbol, { algorithm, extractable, usages }: Omit<CryptoKey, 'type'>) {
    if (key !== constructing) throw new TypeError('Illegal constructor: use crypto.subtle.importKey.');
    this.extractable = extractable;
    this.algorithm = algorithm;
    this.usages = usages;
  }
}

renamed(PlainCryptoKey, 'CryptoKey');

/** Creates digests and HMACs, which the child computes. */
export function createSubtle(port: Port): SubtleCrypto {
  const compute = (hash: Hash, data: Uint8Array, key?: Uint8Array): Uint8Array<ArrayBuffer> => {
    const order = { hash, keyBytes: key === undefined ? null : key.length };
    return fromByteString(
      String(port.ask('digest', order, toByteString(joined([key ?? new Uint8Array(0), data])))),
    );
  };
  const signed = (key: CryptoKey, usage: KeyUsage, data: BufferSource): Uint8Array<ArrayBuffer> => {
    const bytes = bytesOfKey.get(key);
    if (bytes === undefined) throw new TypeError('The key must be a CryptoKey.');
    if (!key.usages.includes(usage))
      throw new DOMException(`The key was imported without the usage "${usage}".`, 'InvalidAccessError');
    return compute(hashNamed(key.algorithm.hash), taken(data), bytes);
  };
  return {
    async digest(algorithm, data) {
      return compute(hashNamed(algorithm), taken(data)).buffer;
    },
    // oxlint-disable-next-line max-params -- as the standard has it
    async importKey(format, keyData, algorithm, extractable, usages) {
      const hash = hashOfHmac(algorithm);
      if (format !== 'raw') throw unsupported(`the key format "${format}"`);
      return keyOf(taken(keyData), { hash, extractable, usages: [...usages] });
    },
    async exportKey(format, key) {
      const bytes = bytesOfKey.get(key);
      if (bytes === undefined) throw new TypeError('The key must be a CryptoKey.');
      if (format !== 'raw') throw unsupported(`the key format "${format}"`);
      if (!key.extractable)
        throw new DOMException('The key was imported as not extractable.', 'InvalidAccessError');
      return bytes.slice().buffer;
    },
    async sign(algorithm, key, data) {
      onlyHmac(algorithm);
      return signed(key, 'sign', data).buffer;
    },
    async verify(algorithm, key, signature, data) {
      onlyHmac(algorithm);
      return isEqual(signed(key, 'verify', data), taken(signature));
    },
    ...refusals,
  };
}

const refusals = Object.fromEntries(
  ['encrypt', 'decrypt', 'generateKey', 'deriveKey', 'deriveBits', 'wrapKey', 'unwrapKey'].map((name) => [
    name,
    async () => {
      throw unsupported(`${name}()`);
    },
  ]),
);

function keyOf(
  bytes: Uint8Array<ArrayBuffer>,
  { hash, ...options }: { hash: Hash; extractable: boolean; usages: KeyUsage[] },
): CryptoKey {
  if (bytes.length === 0) throw new DOMException('The key is empty.', 'DataError');
  if (options.usages.length === 0 || options.usages.some((usage) => usage !== 'sign' && usage !== 'verify'))
    throw new DOMException('A key for HMAC has the usages "sign" and "verify".', 'SyntaxError');
  const algorithm = { name: 'HMAC', length: bytes.length * 8, hash: { name: hash } };
  const key = new PlainCryptoKey(constructing, { algorithm, ...options });
  bytesOfKey.set(key, bytes);
  return key;
}

/** Copies the current bytes of `data`. */
function taken(data: BufferSource): Uint8Array<ArrayBuffer> {
  if (data.byteLength <= maxBytes) return bytesOf(data);
  throw new DOMException(
    `crypto.subtle takes at most ${maxBytes / 1024 / 1024} MB at a time.`,
    'OperationError',
  );
}

const nameOf = (algorithm: AlgorithmIdentifier): string =>
  String(typeof algorithm === 'object' ? algorithm.name : algorithm).toUpperCase();

function hashNamed(algorithm: AlgorithmIdentifier): Hash {
  const name = nameOf(algorithm);
  const hash = hashes.find((known) => known === name);
  if (hash !== undefined) return hash;
  throw unsupported(`the digest "${name}"`);
}

function hashOfHmac(algorithm: AlgorithmIdentifier | HmacImportParams): Hash {
  onlyHmac(algorithm);
  if (typeof algorithm === 'object' && 'hash' in algorithm) return hashNamed(algorithm.hash);
  throw new TypeError('The algorithm of a key for HMAC names its hash: { name: "HMAC", hash: "SHA-256" }.');
}

function onlyHmac(algorithm: AlgorithmIdentifier): void {
  if (nameOf(algorithm) !== 'HMAC') throw unsupported(`the algorithm "${nameOf(algorithm)}"`);
}

/** Compares in constant time: all bytes are compared, wherever they differ. */
function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length;
  for (let index = 0; index < one.length; index += 1) difference |= (one[index] ?? 0) ^ (other[index] ?? 0);
  return difference === 0;
}

const unsupported = (what: string): DOMException =>
  new DOMException(
    `crypto.subtle has no ${what.replace(/^the /, '')} here: it has SHA-1, SHA-256, SHA-384 and SHA-512, and HMAC with "raw" keys.`,
    'NotSupportedError',
  );
