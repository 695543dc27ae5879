// Checks the packed client in every supported runtime. Plain JavaScript, which all of them run. Connections are cut
// during the run named lines.ts.

const lineCount = 60;
const lines = `
for (let line = 1; line <= ${lineCount}; line++) {
  console.log('line ' + line);
  if (line % 10 === 0) await agent.actions.sleep(250);
}
agent.control.setResult({ lines: ${lineCount} });`;

/** Checks each feature of the client. Returns the results as JSON. */
export async function check({ PhalanxClient, ServiceError }, { url, token, deviceId }) {
  const client = new PhalanxClient({ url, token });
  const { project } = await client.api.createProject({ body: { name: `made by ${deviceId}` } });
  await client.uploadFiles(project.id, { 'main.ts': "console.log('uploaded: é 中 🎈');", 'data.json': '{}' });
  const { files } = await client.api.listFiles({ params: { id: project.id } });
  const [launched] = await client.launchProject({ projectId: project.id, deviceIds: [deviceId] });
  const uploaded = await messagesOf(launched);
  await client.api.deleteProject({ params: { id: project.id } });

  const refusal = await client.api.getDevice({ params: { id: 'none' } }).catch((error) => error);
  const closing = new AbortController();
  const told = [];
  const events = await client.events({ signal: closing.signal });
  const following = follow(events, told).catch((error) => {
    if (!closing.signal.aborted) throw error;
  });

  const run = await client.launchCode({ deviceId, code: lines, name: 'lines.ts' });
  const read = await messagesOf(run);
  const { outcome, result } = await run.wait();
  while (told.length < read.length) await new Promise((resolve) => setTimeout(resolve, 20));
  closing.abort();
  await following;

  return {
    read,
    told,
    outcome,
    result,
    uploaded,
    paths: files.map(({ path }) => path).filter((path) => /^(main\.ts|data\.json)$/.test(path)),
    refusal: { isTyped: refusal instanceof ServiceError, code: refusal.code, status: refusal.status },
  };
}

async function messagesOf(run) {
  const messages = [];
  for await (const { message } of run.logs()) messages.push(message);
  return messages;
}

async function follow(events, told) {
  for await (const event of events)
    if (event.type === 'log') told.push(...event.logs.map(({ message }) => message));
}
