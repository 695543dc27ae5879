import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { prepareConsole } from '@phalanx/console';
import type { UiNode } from '@phalanx/protocol';
import sharp from 'sharp';

import {
  recordReport,
  screenReport,
  sendReport,
} from '../../../apps/server/src/testing/records/record-reports.ts';
import type { TestHost } from '../../../apps/server/src/testing/test-host.ts';
import { adminToken, TestServer } from '../../../apps/server/src/testing/test-server.ts';
import { fillDatabase } from '../../../bench/records/fill-database.ts';

const [phones, records, recordsWithScreens, screensPerRecord, nodesPerScreen] = [1000, 100_000, 130, 5, 120];
const [keptLines, linesPerSecond, batchesPerSecond] = [50_000, 1000, 20];

const line = (number: number): string => `step ${number}: tapped "Continue" and waited for the next screen`;

/** Service with a thousand phones, a hundred thousand records, and a run of fifty thousand lines. */
export class LargeService {
  readonly server: TestServer;
  readonly host: TestHost;
  readonly runId: string;
  readonly liveRunId: string;

  private constructor(parts: Pick<LargeService, 'server' | 'host' | 'runId' | 'liveRunId'>) {
    this.server = parts.server;
    this.host = parts.host;
    this.runId = parts.runId;
    this.liveRunId = parts.liveRunId;
  }

  static async start(): Promise<LargeService> {
    const dataDir = mkdtempSync(path.join(tmpdir(), 'phalanx-large-'));
    await fillDatabase({ dataDir, token: adminToken, records });
    const server = await TestServer.start({ dataDir, console: prepareConsole() });
    const serials = Array.from({ length: phones }, (_, index) => `shelf-${String(index).padStart(4, '0')}`);
    const { host, deviceId } = await server.connectHost({ serials });
    const { runId } = await server.startRun(host, deviceId);
    const { runId: liveRunId } = await server.startRun(host, deviceId);
    const service = new LargeService({ server, host, runId, liveRunId });
    await service.#storeRecords();
    for (let stored = 0; stored < keptLines; stored += linesPerSecond)
      await host.log(runId, service.#lines(stored, linesPerSecond));
    host.report(runId, 'completed');
    return service;
  }

  async stop(): Promise<void> {
    await this.host.cut();
    await this.server.dispose();
  }

  /** Writes a thousand lines per second into the active run. */
  async writeFor(seconds: number): Promise<void> {
    const each = linesPerSecond / batchesPerSecond;
    const startedAt = performance.now();
    for (let batch = 0; batch < seconds * batchesPerSecond; batch += 1) {
      void this.host.log(this.liveRunId, this.#lines(batch * each, each));
      await sleep(Math.max(0, startedAt + ((batch + 1) * 1000) / batchesPerSecond - performance.now()));
    }
    await this.host.logsStored(this.liveRunId);
  }

  #lines(from: number, count: number): string[] {
    return Array.from({ length: count }, (_, index) => line(from + index));
  }

  /** Stores the newest records with captures, as hosts send them. */
  async #storeRecords(): Promise<void> {
    const pictures = await Promise.all([0, 1, 2, 3].map(samplePicture));
    for (let index = 0; index < recordsWithScreens; index += 1) {
      const screens = Array.from({ length: screensPerRecord }, () => screenReport());
      const report = recordReport(this.liveRunId, { screens });
      const missing = await sendReport(this.host, report);
      const picture = pictures[index % pictures.length] ?? Buffer.alloc(0);
      await Promise.all(
        missing.map(({ screen_id, kind }) =>
          fetch(`${this.server.url}/api/v2/hosts/records/${report.record_id}/screens/${screen_id}/${kind}`, {
            method: 'PUT',
            headers: {
              authorization: `Bearer ${adminToken}`,
              'content-type': kind === 'tree' ? 'application/json' : 'image/jpeg',
            },
            body: kind === 'tree' ? sampleTree(index) : new Uint8Array(picture),
          }),
        ),
      );
    }
  }
}

/** Returns a picture of noise, which is the hardest to decode and draw. */
const samplePicture = (shade: number): Promise<Buffer> =>
  sharp({
    create: {
      width: 540,
      height: 1212,
      channels: 3 as const,
      background: { r: 40 * shade, g: 90, b: 120 },
      noise: { type: 'gaussian', mean: 120, sigma: 12 },
    },
  })
    .jpeg({ quality: 50 })
    .toBuffer();

function sampleTree(record: number): string {
  const node = (index: number, children: UiNode[]): UiNode => ({
    className: 'android.widget.TextView',
    packageName: 'com.example.shop',
    index,
    children,
    viewId: `com.example.shop:id/item_${index}`,
    text: `Item ${index} of record ${record}`,
    description: null,
    hintText: null,
    tooltipText: null,
    paneTitle: null,
    containerTitle: null,
    boundsInScreen: { left: 0, top: 20 * index, right: 1080, bottom: 20 * index + 20 },
    maxTextLength: -1,
    inputType: '',
    isShowingHintText: false,
    checkable: false,
    checked: false,
    clickable: true,
    enabled: true,
    focusable: true,
    focused: false,
    longClickable: false,
    password: false,
    scrollable: false,
    selected: false,
    visible: true,
  });
  const leaves = Array.from({ length: nodesPerScreen }, (_, index) => node(index, []));
  return JSON.stringify({ packageName: 'com.example.shop', source: 'helper', root: node(0, leaves) });
}
