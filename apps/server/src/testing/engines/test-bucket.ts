import { randomUUID } from 'node:crypto';
import { AwsClient } from 'aws4fetch';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import type { S3Config } from '../../storage/blobs/s3/s3-settings.ts';
import { askForEngine } from './shared-engine.ts';

export const isS3Here = (process.env['TEST_S3_ROOT'] ?? '') !== '';

const Engine = Compile(
  Type.Object({ endpoint: Type.String(), accessKey: Type.String(), secretKey: Type.String() }),
);

export interface TestBucket extends S3Config {
  /** Settings of a server that keeps its captures and large packs there. */
  readonly settings: Record<string, string>;
}

/** An empty bucket on a real S3 server, which is started when nobody has asked for one before. */
export async function makeTestBucket(): Promise<TestBucket> {
  const { endpoint, accessKey, secretKey } = Engine.Parse(await askForEngine('s3'));
  const bucket = `test-${randomUUID()}`;
  const region = 'us-east-1';
  const aws = new AwsClient({ accessKeyId: accessKey, secretAccessKey: secretKey, service: 's3', region });
  const made = await aws.fetch(`${endpoint}/${bucket}`, { method: 'PUT' });
  if (!made.ok) throw new Error(await made.text());
  const settings = {
    PHALANX_S3_ENDPOINT: endpoint,
    PHALANX_S3_BUCKET: bucket,
    PHALANX_S3_ACCESS_KEY: accessKey,
    PHALANX_S3_SECRET_KEY: secretKey,
  };
  return { endpoint: new URL(endpoint), bucket, region, accessKey, secretKey, settings };
}
