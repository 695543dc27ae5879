/* oxlint-disable no-var -- as in the standard library, so that `globalThis` has them */
interface Crypto {
  /** Digests and HMAC. */
  readonly subtle: SubtleCrypto;
  randomUUID(): `${string}-${string}-${string}-${string}-${string}`;
  /** Fills an array of integers of at most 65,536 bytes. */
  getRandomValues<T extends ArrayBufferView>(array: T): T;
}
declare var crypto: Crypto;

interface Algorithm {
  name: string;
}
type AlgorithmIdentifier = Algorithm | string;
type HashAlgorithmIdentifier = AlgorithmIdentifier;
interface HmacImportParams extends Algorithm {
  hash: HashAlgorithmIdentifier;
}
interface HmacKeyAlgorithm extends Algorithm {
  hash: Algorithm;
  /** Bits of the key. */
  length: number;
}
type KeyUsage =
  | 'encrypt'
  | 'decrypt'
  | 'sign'
  | 'verify'
  | 'deriveKey'
  | 'deriveBits'
  | 'wrapKey'
  | 'unwrapKey';
type KeyType = 'private' | 'public' | 'secret';
type KeyFormat = 'raw' | 'jwk' | 'pkcs8' | 'spki';

/** A key for HMAC. */
interface CryptoKey {
  readonly algorithm: HmacKeyAlgorithm;
  readonly extractable: boolean;
  readonly type: KeyType;
  readonly usages: KeyUsage[];
}

/**
 * SHA-1, SHA-256, SHA-384 and SHA-512, and HMAC with them, of up to 50 MB at a time. Other algorithms and formats reject
 * with a `NotSupportedError`.
 */
interface SubtleCrypto {
  digest(algorithm: AlgorithmIdentifier, data: BufferSource): Promise<ArrayBuffer>;
  /** Takes a key for HMAC as its bytes, with the format `raw`. */
  importKey(
    format: KeyFormat,
    keyData: BufferSource,
    algorithm: AlgorithmIdentifier | HmacImportParams,
    extractable: boolean,
    keyUsages: readonly KeyUsage[],
  ): Promise<CryptoKey>;
  /** Gives the bytes of a key that was imported as extractable, with the format `raw`. */
  exportKey(format: KeyFormat, key: CryptoKey): Promise<ArrayBuffer>;
  sign(algorithm: AlgorithmIdentifier, key: CryptoKey, data: BufferSource): Promise<ArrayBuffer>;
  /** Compares in the same time whatever differs. */
  verify(
    algorithm: AlgorithmIdentifier,
    key: CryptoKey,
    signature: BufferSource,
    data: BufferSource,
  ): Promise<boolean>;
}
