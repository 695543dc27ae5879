import type { CaptureKind } from '@phalanx/protocol';

import { KeepAliveClient, requestBytes } from '../http/keep-alive-client.ts';
import { send } from '../http/send.ts';
import { sampleCaptures, sampleRecord, screenCount } from './sample-record.ts';
import type { SimulatedHost } from './simulated-host.ts';

const contentTypes: Readonly<Record<CaptureKind, string>> = {
  tree: 'application/json',
  screenshot: 'image/jpeg',
};

/** Sends records as the product's host does: tells of one, and then sends its captures one after the other. */
export class RecordSender {
  readonly #host: SimulatedHost;
  readonly #address: { url: string; token: string };
  readonly #idle: KeepAliveClient[] = [];

  constructor(host: SimulatedHost, address: { url: string; token: string }) {
    this.#host = host;
    this.#address = address;
  }

  /** Resolves when the record and all its captures are stored. */
  async sendOne(): Promise<void> {
    const [runId] = this.#host.runIds;
    if (runId === undefined) throw new Error('nothing runs on the host');
    const report = sampleRecord(runId);
    const missing = await this.#host.tellRecord(report);
    if (missing.length !== 2 * screenCount) throw new Error('the server did not take the record');
    const client = this.#idle.pop() ?? (await KeepAliveClient.open(this.#address.url));
    for (const { screen_id, kind } of missing) {
      const path = `/api/v2/hosts/records/${report.record_id}/screens/${screen_id}/${kind}`;
      const address = { ...this.#address, url: new URL(path, this.#address.url).href };
      const body = { type: contentTypes[kind], bytes: sampleCaptures[kind] };
      await send(client, requestBytes('PUT', address, body));
    }
    this.#idle.push(client);
  }
}
