import type * as sdkModule from '@modelcontextprotocol/server';
import type { CallToolResult, McpServer } from '@modelcontextprotocol/server';
import type { HelpPage, Scope } from '@phalanx/protocol';

import { type ApiCalls, ToolFailure } from './api-calls.ts';
import { instructions } from './instructions.ts';
import { bounded } from './phone-data.ts';
import { prompts } from './prompts.ts';
import { addResources } from './resources.ts';
import type { Tool, ToolResult } from './tool.ts';
import { docTools } from './tools/docs.ts';
import { fixTools } from './tools/fixes.ts';
import { groupTools } from './tools/groups.ts';
import { phoneTools } from './tools/phones.ts';
import { projectTools } from './tools/projects.ts';
import { runTools } from './tools/runs.ts';

const tools: readonly Tool[] = [
  ...phoneTools,
  ...projectTools,
  ...runTools,
  ...groupTools,
  ...fixTools,
  ...docTools,
];

interface Serving {
  readonly version: string;
  /** Of the documentation. */
  readonly pages: readonly HelpPage[];
  readonly api: ApiCalls;
  readonly scopes: ReadonlySet<Scope>;
  /** The only tool that is called. Undefined: any may be. */
  readonly calledTool: string | undefined;
}

type Sdk = typeof sdkModule;

/** A server is made for each request, and a schema takes as long as all else of it. */
const inputSchemas = new Map<Tool, ReturnType<Sdk['fromJsonSchema']>>();

function inputSchemaOf(tool: Tool, { fromJsonSchema }: Sdk): ReturnType<Sdk['fromJsonSchema']> {
  const schema = inputSchemas.get(tool) ?? fromJsonSchema(tool.input);
  inputSchemas.set(tool, schema);
  return schema;
}

/** The tools that the caller's token allows. */
export async function serverOf({ version, pages, api, scopes, calledTool }: Serving): Promise<McpServer> {
  const sdk = await import('@modelcontextprotocol/server');
  const server = new sdk.McpServer(
    { name: 'phalanx', title: 'Phalanx', version },
    { instructions, capabilities: { tools: {}, prompts: {}, resources: {} }, maxToolInputElements: 10_000 },
  );
  const isServed = ({ name, scopes: needed }: Tool): boolean =>
    needed.every((scope) => scopes.has(scope)) && (calledTool ?? name) === name;
  for (const tool of tools.filter(isServed)) {
    const { name, title, description, hints: annotations } = tool;
    const inputSchema = inputSchemaOf(tool, sdk);
    server.registerTool(name, { title, description, annotations, inputSchema }, (args) =>
      callTool(tool, api, args),
    );
  }
  for (const { name, title, description, text } of prompts)
    server.registerPrompt(name, { title, description }, () => ({
      messages: [{ role: 'user', content: { type: 'text', text } }],
    }));
  if (scopes.has('read')) addResources(sdk, server, { api, pages });
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
