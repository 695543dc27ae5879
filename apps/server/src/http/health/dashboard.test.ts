import { readFile } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';

import { TestServer } from '../../testing/test-server.ts';

const deploy = new URL('../../../../../deploy/', import.meta.url);

it.each(['prometheus/alerts.yaml', 'grafana/phalanx.json'])(
  'deploy/%s asks for what a server tells',
  async (file) => {
    const server = await TestServer.start();
    onTestFinished(() => server.dispose());
    const { text } = await server.api('GET', '/metrics');
    const told = new Set(Array.from(text.matchAll(/^# TYPE (phalanx_\w+)/gm), ([, name]) => name));
    const asked = (await readFile(new URL(file, deploy), 'utf8')).match(/\bphalanx_[a-z_]+/g) ?? [];
    expect(asked.length).toBeGreaterThan(5);
    expect(asked.map((name) => name.replace(/_bucket$/, '')).filter((name) => !told.has(name))).toEqual([]);
  },
);
