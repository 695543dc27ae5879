import {
  createHmac,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';

/** Key pair or shared secret of a webhook: the stored secret, and the key with which receivers verify signatures. */
interface SigningKey {
  /** `whsec_…`, or `whsk_…` with the seed of Ed25519 and the public key. */
  readonly secret: string;
  /** `whpk_…`; null for a shared secret. */
  readonly publicKey: string | null;
}

interface Message {
  readonly id: string;
  /** Time of the attempt, in seconds. */
  readonly timestamp: number;
  readonly body: string;
}

const secretBytes = 32;
const seedBytes = 32;
const prefixes = { shared: 'whsec_', private: 'whsk_', public: 'whpk_' } as const;

const toBase64Url = (bytes: Buffer): string => bytes.toString('base64url');

export function createSigningKey(signature: 'v1' | 'v1a'): SigningKey {
  if (signature === 'v1')
    return { secret: prefixes.shared + randomBytes(secretBytes).toString('base64'), publicKey: null };
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const [seed, point] = [Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')];
  return {
    secret: prefixes.private + Buffer.concat([seed, point]).toString('base64'),
    publicKey: prefixes.public + point.toString('base64'),
  };
}

/** Returns the value of `webhook-signature` (Standard Webhooks 1.0): one signature per secret. */
export function signatureOf(secrets: readonly string[], { id, timestamp, body }: Message): string {
  const content = Buffer.from(`${id}.${timestamp}.${body}`);
  return secrets.map((secret) => signWith(secret, content)).join(' ');
}

function signWith(secret: string, content: Buffer): string {
  const bytes = Buffer.from(secret.slice(secret.indexOf('_') + 1), 'base64');
  if (secret.startsWith(prefixes.shared))
    return `v1,${createHmac('sha256', bytes).update(content).digest('base64')}`;
  return `v1a,${sign(null, content, privateKeyOf(bytes)).toString('base64')}`;
}

const privateKeyOf = (bytes: Buffer): KeyObject =>
  createPrivateKey({
    format: 'jwk',
    key: {
      kty: 'OKP',
      crv: 'Ed25519',
      d: toBase64Url(bytes.subarray(0, seedBytes)),
      x: toBase64Url(bytes.subarray(seedBytes)),
    },
  });
