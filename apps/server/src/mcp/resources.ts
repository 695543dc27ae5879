import type * as sdk from '@modelcontextprotocol/server';
import type { McpServer, ReadResourceResult } from '@modelcontextprotocol/server';
import { type HelpPage, helpRoutes, runRoutes } from '@phalanx/protocol';

import type { ApiCalls } from './api-calls.ts';
import { bounded, fenced } from './phone-data.ts';

const declarations = 'types/';
/** Programs refuse more, or give all of it to the model. */
const maxFileBytes = 256 * 1024;

const uriOf = ({ name }: HelpPage): string =>
  name.startsWith(declarations) ? `phalanx://${name}` : `phalanx://docs/${name}`;

interface Reading {
  readonly api: ApiCalls;
  readonly pages: readonly HelpPage[];
}

/** The documentation, the types of the global `agent`, and the files of runs. */
export function addResources(
  { ResourceTemplate }: typeof sdk,
  server: McpServer,
  { api, pages }: Reading,
): void {
  for (const page of pages) {
    const { name, title } = page;
    server.registerResource(name, uriOf(page), { title, mimeType: 'text/markdown' }, async ({ href }) => {
      const { text } = await api.call(helpRoutes.read, { query: { name } });
      return { contents: [{ uri: href, mimeType: 'text/markdown', text }] };
    });
  }
  server.registerResource(
    'files of a run',
    new ResourceTemplate('phalanx://runs/{run}/files/{name}', { list: undefined }),
    { title: 'A file that a run has attached' },
    async ({ href }, { run, name }) => readRunFile(api, href, String(run), decodeURIComponent(String(name))),
  );
}

async function readRunFile(
  api: ApiCalls,
  uri: string,
  run: string,
  name: string,
): Promise<ReadResourceResult> {
  const { files } = await api.call(runRoutes.files, { params: { id: run } });
  const size = files.find((file) => file.name === name)?.size_bytes ?? 0;
  if (size > maxFileBytes)
    return {
      contents: [{ uri, text: `The file has ${size} bytes, more than ${maxFileBytes}: download it.` }],
    };
  const { type, body } = await api.read(runRoutes.readFile, { params: { id: run, name } });
  if (type.startsWith('image/'))
    return { contents: [{ uri, mimeType: type, blob: body.toString('base64') }] };
  return {
    contents: [{ uri, mimeType: 'text/plain', text: bounded(fenced('file of a run', body.toString())) }],
  };
}
