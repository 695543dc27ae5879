import type { CallToolResult, McpServer } from '@modelcontextprotocol/server';
import type { Scope } from '@phalanx/protocol';

import { type ApiCalls, ToolFailure } from './api-calls.ts';
import { instructions } from './instructions.ts';
import { bounded } from './phone-data.ts';
import { prompts } from './prompts.ts';
import type { Tool, ToolResult } from './tool.ts';
import { phoneTools } from './tools/phones.ts';
import { projectTools } from './tools/projects.ts';
import { runTools } from './tools/runs.ts';

const tools: readonly Tool[] = [...phoneTools, ...projectTools, ...runTools];

interface Serving {
  readonly version: string;
  readonly api: ApiCalls;
  readonly scopes: ReadonlySet<Scope>;
}

/** The tools that the caller's token allows. */
export async function serverOf({ version, api, scopes }: Serving): Promise<McpServer> {
  const sdk = await import('@modelcontextprotocol/server');
  const server = new sdk.McpServer(
    { name: 'phalanx', title: 'Phalanx', version },
    { instructions, capabilities: { tools: {}, prompts: {} }, maxToolInputElements: 10_000 },
  );
  for (const tool of tools.filter((one) => one.scopes.every((scope) => scopes.has(scope)))) {
    const { name, title, description, hints: annotations, input } = tool;
    const inputSchema = sdk.fromJsonSchema(input);
    server.registerTool(name, { title, description, annotations, inputSchema }, (args) =>
      callTool(tool, api, args),
    );
  }
  for (const { name, title, description, text } of prompts)
    server.registerPrompt(name, { title, description }, () => ({
      messages: [{ role: 'user', content: { type: 'text', text } }],
    }));
  return server;
}

async function callTool(tool: Tool, api: ApiCalls, args: unknown): Promise<CallToolResult> {
  try {
    return { content: contentOf(await tool.run(api, args)) };
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return { content: [{ type: 'text', text: bounded(error.message) }], isError: true };
  }
}

/** Texts are one block, so that what is left out is at its end. */
function contentOf(result: ToolResult): CallToolResult['content'] {
  const text = result.filter((part) => typeof part === 'string').join('\n');
  const pictures = result.filter((part) => typeof part !== 'string');
  return [
    { type: 'text', text: bounded(text) },
    ...pictures.map(({ jpeg }) => ({
      ...{ type: 'image' as const, data: jpeg.toString('base64'), mimeType: 'image/jpeg' },
    })),
  ];
}
