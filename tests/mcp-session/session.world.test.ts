import { afterAll, beforeAll, expect, test } from 'vitest';

import { areOtherToolsHere, otherToolUrl } from '../client/other-tools.ts';
import { Installation } from '../support/installation.ts';
import { listCosts } from './list-costs.ts';
import { callSdk, connectSdk, eras, playSession, type Service } from './session.ts';

const maxCalls = 25;
const maxTokens = 20_000;
/** Maximum number of tokens of the tool list, which each conversation pays. */
const maxListTokens = 3000;

let installation: Installation;
let service: Service;

beforeAll(async () => {
  installation = await Installation.start(3);
  service = { url: installation.url, token: installation.callerSettings['PHALANX_TOKEN'] ?? '' };
});
afterAll(() => installation.stop());

test.each(eras)(
  'a scripted agent writes, breaks and repairs an automation in few calls and tokens, in the protocol of %s',
  async (era) => {
    const client = await connectSdk(service, era);
    const device = `TEST${eras.indexOf(era) + 1}`;
    const calls = await playSession(async (name, args) => callSdk(client, name, args), device);
    await client.close();
    expect(calls.length).toBeLessThanOrEqual(maxCalls);
    expect(calls.reduce((sum, { tokens }) => sum + tokens, 0)).toBeLessThanOrEqual(maxTokens);
  },
);

test.each(eras)('the list of tools costs few tokens by any tokenizer, in the protocol of %s', async (era) => {
  const client = await connectSdk(service, era);
  const all = (await listCosts(client)).at(-1);
  await client.close();
  for (const [tokenizer, tokens] of Object.entries(all?.tokens ?? expect.fail()))
    expect([tokenizer, tokens <= maxListTokens, tokens]).toEqual([tokenizer, true, tokens]);
});

/** Part of the module that is used here. */
interface OtherModule {
  readonly createMCPClient: (options: object) => Promise<OtherClient>;
}
interface OtherClient {
  tools(): Promise<Record<string, { execute(args: object, options: object): Promise<OtherResult> }>>;
  close(): Promise<void>;
}
interface OtherResult {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
}

test.skipIf(!areOtherToolsHere)(
  'a client of another maker lists the tools and plays the same session',
  async () => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const { createMCPClient } = (await import(otherToolUrl('@ai-sdk/mcp/dist/index.js'))) as OtherModule;
    const headers = { authorization: `Bearer ${service.token}` };
    const client = await createMCPClient({ transport: { type: 'http', url: `${service.url}/mcp`, headers } });
    const tools = await client.tools();
    expect(Object.keys(tools)).toEqual(expect.arrayContaining(['list_devices', 'act', 'replay_draft']));
    const calls = await playSession(async (name, args) => {
      const result = await tools[name]?.execute(args, { toolCallId: name, messages: [] });
      return result?.content.map(({ text = '' }) => text).join('\n') ?? '';
    }, 'TEST3');
    await client.close();
    expect(calls.length).toBeLessThanOrEqual(maxCalls);
  },
);
