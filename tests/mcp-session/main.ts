/**
 * `npm run mcp-session`
 *
 * A scripted agent writes, breaks and repairs an automation on a simulated phone through `/mcp`. Prints each call with the
 * tokens of its result, in the protocol of both eras.
 */
import { Installation } from '../support/installation.ts';
import { callSdk, connectSdk, eras, playSession, type TalliedCall } from './session.ts';

const installation = await Installation.start(eras.length);
try {
  for (const [index, era] of eras.entries()) {
    const token = installation.callerSettings['PHALANX_TOKEN'] ?? '';
    const client = await connectSdk({ url: installation.url, token }, era);
    const calls = await playSession(async (name, args) => callSdk(client, name, args), `TEST${index + 1}`);
    await client.close();
    print(`protocol of ${era}`, calls);
  }
} finally {
  await installation.stop();
}

function print(title: string, calls: readonly TalliedCall[]): void {
  console.log(`\n${title}`);
  for (const { name, args, tokens } of calls)
    console.log(`${String(tokens).padStart(6)}  ${name} ${JSON.stringify(args).slice(0, 100)}`);
  const sum = calls.reduce((all, { tokens }) => all + tokens, 0);
  console.log(`${String(sum).padStart(6)}  tokens in the results of ${calls.length} calls`);
}
