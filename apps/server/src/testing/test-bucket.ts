import { randomUUID } from 'node:crypto';
import { AwsClient } from 'aws4fetch';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';

import type { S3Config } from '../s3/s3-settings.ts';

/** Where the S3 server of this run of the tests is asked for; undefined where there is none. */
const door = process.env['TEST_S3'];

export const isS3Here = door !== undefined;

const Engine = Compile(
  Type.Object({ endpoint: Type.String(), accessKey: Type.String(), secretKey: Type.String() }),
);

export interface TestBucket extends S3Config {
  /** Of a server that keeps its captures and large packs there. */
  readonly settings: Record<string, string>;
}

/** An empty bucket on a real S3 server, which is started when nobody has asked for one before. */
export async function makeTestBucket(): Promise<TestBucket> {
  if (door === undefined) throw new Error("Ceph's S3 server is not here: see the end of npm test");
  const reply = await fetch(door);
  if (!reply.ok) throw new Error(await reply.text());
  const { endpoint, accessKey, secretKey } = Engine.Parse(await reply.json());
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
