import type { CaptureKind } from '@phalanx/protocol';

import { KeepAliveClient, requestBytes } from '../http/keep-alive-client.ts';
import { send } from '../http/send.ts';
import { sampleCaptures, sampleRecord, sampleTree, type SampleType, screenCount } from './sample-record.ts';
import type { SimulatedHost } from './simulated-host.ts';

const contentTypes: Readonly<Record<CaptureKind, string>> = {
  tree: 'application/json',
  screenshot: 'image/jpeg',
};

/** Sends records like the product's host: reports one, and then sends its captures one after the other. */
export class RecordSender {
  readonly #host: SimulatedHost;
  readonly #address: { url: string; token: string };
  readonly #idle: KeepAliveClient[] = [];

  constructor(host: SimulatedHost, address: { url: string; token: string }) {
    this.#host = host;
    this.#address = address;
  }

  /** Sends a record whose last screen is unique. Resolves with its ID when it is stored with all its captures. */
  async sendOne(type?: SampleType): Promise<string> {
    const [runId] = this.#host.runIds;
    if (runId === undefined) throw new Error('nothing runs on the host');
    const report = sampleRecord(runId, type);
    const last = report.screens.at(-1)?.screen_id;
    const missing = await this.#host.describeRecord(report);
    if (missing.length !== 2 * screenCount) throw new Error('the server did not take the record');
    const client = this.#idle.pop() ?? (await KeepAliveClient.open(this.#address.url));
    for (const { screen_id, kind } of missing) {
      const path = `/api/v2/hosts/records/${report.record_id}/screens/${screen_id}/${kind}`;
      const address = { ...this.#address, url: new URL(path, this.#address.url).href };
      const isOwn = screen_id === last && kind === 'tree';
      const bytes = isOwn ? sampleTree(`of_${last.slice(0, 8)}`) : sampleCaptures[kind];
      const body = { type: contentTypes[kind], bytes };
      await send(client, requestBytes('PUT', address, body));
    }
    this.#idle.push(client);
    return report.record_id;
  }
}
