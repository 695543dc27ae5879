import { type ChatFormat, chatNames } from '@phalanx/protocol';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { expect, it } from 'vitest';

import type { StoredDelivery } from '../delivery-store.ts';
import type { Names } from '../names.ts';
import { writeChatMessage } from './chat-message.ts';

const at = Date.UTC(2026, 10, 25, 12, 0, 3);
const run = {
  run_id: 'run-1',
  automation_id: 'a1',
  launch: 'l1',
  launch_id: null,
  name: 'Signs up',
  device_id: 'd1',
  status: 'failed',
  outcome: 'failed',
  created_at: at,
  started_at: at,
  ended_at: at,
  error: { code: 'uncaught_error', message: 'no such person' },
};
const deliveryOf = (data: object = run): StoredDelivery =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only these columns are read
  ({ id: crypto.randomUUID(), type: 'run.ended', at, data: JSON.stringify(data) }) as StoredDelivery;
const failing = (text: string): StoredDelivery =>
  deliveryOf({ ...run, name: text, error: { code: 'uncaught_error', message: text } });

const names: Names = {
  device: () => Promise.resolve('Pixel 9 (S1)'),
  user: () => 'Ada',
  consoleUrl: 'http://127.0.0.1:8080',
  publicUrl: 'https://phones.example',
};
const formats = Object.keys(chatNames) as ChatFormat[];

const plainText = Type.Object({
  type: Type.Literal('plain_text'),
  text: Type.String({ minLength: 1, maxLength: 3000 }),
  emoji: Type.Literal(false),
});
/** Schema of the blocks that messages use, as Slack accepts them. */
const slackMessage = Compile(
  Type.Object(
    {
      text: Type.String({ minLength: 1, maxLength: 4000 }),
      blocks: Type.Array(
        Type.Union([
          Type.Object({
            type: Type.Literal('header'),
            text: Type.Intersect([plainText, Type.Object({ text: Type.String({ maxLength: 150 }) })]),
          }),
          Type.Object({ type: Type.Literal('section'), text: plainText }),
          Type.Object({
            type: Type.Literal('context'),
            elements: Type.Array(
              Type.Object({ type: Type.Literal('mrkdwn'), text: Type.String({ maxLength: 3000 }) }),
              { minItems: 1, maxItems: 10 },
            ),
          }),
        ]),
        { minItems: 1, maxItems: 50 },
      ),
    },
    { additionalProperties: false },
  ),
);
const richText = Type.Object({
  type: Type.Literal('RichTextBlock'),
  inlines: Type.Array(Type.Object({ type: Type.Literal('TextRun'), text: Type.String({ minLength: 1 }) })),
});
const link = Type.Object({
  type: Type.Literal('ActionSet'),
  actions: Type.Array(
    Type.Object({ type: Type.Literal('Action.OpenUrl'), title: Type.String(), url: Type.String() }),
  ),
});
const teamsMessage = Compile(
  Type.Object({
    type: Type.Literal('message'),
    attachments: Type.Array(
      Type.Object({
        contentType: Type.Literal('application/vnd.microsoft.card.adaptive'),
        content: Type.Object({
          type: Type.Literal('AdaptiveCard'),
          version: Type.String(),
          body: Type.Array(
            Type.Union([
              richText,
              Type.Object({
                type: Type.Literal('Container'),
                items: Type.Array(Type.Union([richText, link])),
              }),
            ]),
          ),
        }),
      }),
    ),
  }),
);

/** Maximum size of a whole message in bytes. Teams accepts 28 KB; no other service specifies it. */
const maxBytes = 28 * 1024;

async function write(
  format: ChatFormat,
  deliveries: readonly StoredDelivery[],
  named = names,
): Promise<string> {
  const body = await writeChatMessage(format, deliveries, named);
  const schema = format === 'slack' ? slackMessage : teamsMessage;
  expect([...schema.Errors(JSON.parse(body))]).toEqual([]);
  return body;
}

it.each(formats)('%s: a run that failed is a sentence with reason, phone and link', async (format) => {
  const body = await write(format, [deliveryOf()]);
  for (const part of [
    'A run of “Signs up” failed on Pixel 9 (S1).',
    'Reason: no such person',
    'https://phones.example/runs/run-1',
  ])
    expect(body).toContain(part);
});

it.each(formats)('%s: nothing leads to an address that only the service itself knows', async (format) => {
  const body = await write(format, [deliveryOf()], { ...names, publicUrl: undefined });
  expect(body).not.toMatch(/https?:\/\/(phones|127)/);
});

it.each(formats)('%s: of many events the first are described, and the rest is counted', async (format) => {
  const body = await write(
    format,
    Array.from({ length: 100 }, (_, index) => failing(`row ${index}.`)),
  );
  expect(body).toContain('row 5.');
  expect(body).not.toContain('row 6.');
  expect(body).toContain('94 more messages are listed among the deliveries of the webhook.');
});

const evil = '<!channel> <@U012> <https://evil.example|log in> & *b* _i_ [x](https://evil.example) ';

it.each(['x', '"', '&', '<', '😀', '日', '\uD800', '\\', evil])(
  'what is written without end with %j stays within what the services take',
  async (sign) => {
    const endless = sign.repeat(1000);
    const deliveries = Array.from({ length: 7 }, () => failing(endless));
    const sizes = await Promise.all(
      formats.map(async (format) => {
        const named = { ...names, device: () => Promise.resolve(endless) };
        return Buffer.byteLength(await write(format, deliveries, named));
      }),
    );
    expect(Math.max(...sizes)).toBeLessThan(maxBytes);
  },
);

it('Slack: text of others is no mention, no link and no markup', async () => {
  const body = await write('slack', [failing(evil)]);
  expect(body).toContain('&lt;!channel&gt; &lt;@U012&gt;');
  expect(body).toContain('&amp; *b*');
  expect(body.match(/<[^>]*>/g)).toEqual(['<https://phones.example/runs/run-1|Open in Phalanx>']);
});

it('Slack: an entity is never cut', async () => {
  for (let length = 100; length < 140; length += 1) {
    const body = await write('slack', [failing(`${'x'.repeat(length)}${'&'.repeat(20)}`)]);
    expect(body.replaceAll('&amp;', '')).not.toContain('&');
  }
});

it('Teams: text of others is in no place where Markdown is read', async () => {
  const body = await write('teams', [failing(evil)]);
  expect(body).toContain('[x](https://evil.example)');
  // These elements alone are read as Markdown:
  // https://learn.microsoft.com/microsoftteams/platform/task-modules-and-cards/cards/cards-format
  expect(body).not.toMatch(/TextBlock"(?<!RichTextBlock")|FactSet/);
});

it.each(formats)('%s: a line break of others begins no line', async (format) => {
  const body = await write(format, [failing('one\nReason: two\r\u2028three\u202Efour')]);
  expect(body).toContain('Reason: one Reason: two three four');
});
