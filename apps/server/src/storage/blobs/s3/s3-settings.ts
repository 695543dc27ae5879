import { readFileSync } from 'node:fs';
import {
  type Environment,
  httpUrl,
  parseSettings,
  secret,
  setting,
  type SettingFormat,
  SettingError,
  shortText,
  unless,
} from '@phalanx/settings';

/** S3 storage of captures and large packs. */
export interface S3Config {
  readonly endpoint: URL;
  readonly bucket: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
}

/** Name of a bucket by the rules of S3, which make it safe as a part of the path. */
const bucketName: SettingFormat<string> = {
  parse(text, name) {
    if (/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(text)) return text;
    throw new SettingError(
      `${name} is ${JSON.stringify(text.slice(0, 100))}: give the name of a bucket, 3 to 63 small letters, digits, dots and dashes.`,
    );
  },
};

const regionName: SettingFormat<string> = {
  parse(text, name) {
    if (/^[A-Za-z0-9-]{1,64}$/.test(text)) return text;
    throw new SettingError(
      `${name} is ${JSON.stringify(text.slice(0, 100))}: give a region such as eu-central-1.`,
    );
  },
};

export const s3Settings = {
  endpoint: setting({
    name: 'PHALANX_S3_ENDPOINT',
    default: '',
    defaultText: 'none: captures and large packs are in the data folder',
    description: 'address of an S3 storage, such as https://s3.eu-central-1.amazonaws.com',
    format: unless('', httpUrl),
  }),
  bucket: setting({
    name: 'PHALANX_S3_BUCKET',
    default: '',
    description: 'bucket of the S3 storage, for this service alone',
    format: unless('', bucketName),
  }),
  region: setting({
    name: 'PHALANX_S3_REGION',
    default: 'us-east-1',
    description: 'region of the S3 storage; many storages have just the default one',
    format: regionName,
  }),
  accessKey: setting({
    name: 'PHALANX_S3_ACCESS_KEY',
    default: '',
    description: 'access key of the S3 storage',
    format: unless('', secret({ min: 1, max: 500 })),
  }),
  secretKey: setting({
    name: 'PHALANX_S3_SECRET_KEY',
    default: '',
    description: 'secret key of the S3 storage',
    format: unless('', secret({ min: 1, max: 500 })),
  }),
  secretKeyFile: setting({
    name: 'PHALANX_S3_SECRET_KEY_FILE',
    default: '',
    description: 'file with the secret key, instead of PHALANX_S3_SECRET_KEY',
    format: unless('', shortText(4096)),
  }),
};

function required<Value>(value: Value | undefined, { name }: { name: string }): Value {
  if (value !== undefined) return value;
  throw new SettingError(
    `${name} is not set: PHALANX_S3_ENDPOINT also requires PHALANX_S3_BUCKET, PHALANX_S3_ACCESS_KEY and PHALANX_S3_SECRET_KEY.`,
  );
}

function secretOfFile(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  const { name } = s3Settings.secretKeyFile;
  try {
    return s3Settings.secretKey.format.parse(readFileSync(file, 'utf8').trim(), name);
  } catch (error) {
    if (error instanceof SettingError) throw error;
    throw new SettingError(`The file of ${name} cannot be read.`, { cause: error });
  }
}

/** Parses the settings; undefined without an endpoint. Throws a `SettingError` when something is missing beside it. */
export function parseS3(env: Environment): S3Config | undefined {
  const { endpoint, bucket, region, accessKey, secretKey, secretKeyFile } = parseSettings(s3Settings, env);
  if (endpoint === undefined) {
    if (bucket === undefined) return undefined;
    throw new SettingError('PHALANX_S3_BUCKET is set without PHALANX_S3_ENDPOINT: set both, or neither.');
  }
  return Object.freeze({
    endpoint,
    region,
    bucket: required(bucket, s3Settings.bucket),
    accessKey: required(accessKey, s3Settings.accessKey),
    secretKey: required(secretKey ?? secretOfFile(secretKeyFile), s3Settings.secretKey),
  });
}
