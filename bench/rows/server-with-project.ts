import { Type } from 'typebox';

import type { BenchProcess } from '../harness/bench-process.ts';
import type { Stage } from '../harness/stage.ts';
import { newToken, type Api } from '../http/api.ts';
import { pushProject } from '../projects/push-project.ts';
import { sampleFiles } from '../projects/sample-project.ts';

interface Request {
  method: string;
  path: string;
  body?: object;
}

export interface ServerWithProject {
  api: Api;
  server: BenchProcess;
  projectId: string;
  /** Sends requests one by one from another process. Resolves with the latencies in ms. */
  send: (requests: readonly Request[]) => Promise<number[]>;
}

/** Starts the product's server with a project of this number of files, all committed. */
export async function startServerWithProject(stage: Stage, files: number): Promise<ServerWithProject> {
  const api = { url: '', token: newToken() };
  const server = await stage.start('server');
  const input = { dataDir: await stage.folder(), token: api.token };
  api.url = await server.call('listen', input, Type.String());
  const projectId = await pushProject(api, await stage.folder(), sampleFiles(files));
  const load = await stage.start('http-load');
  return {
    api,
    server,
    projectId,
    send: (requests) => load.call('sequence', { ...api, requests }, Type.Array(Type.Number())),
  };
}
