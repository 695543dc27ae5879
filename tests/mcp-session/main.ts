/**
 * `npm run lab -- mcp-session`
 *
 * A scripted agent writes, breaks and repairs an automation on a simulated phone through `/mcp`. Prints each call
 * with the tokens of its result, in the protocol of both eras, and the cost of the tool list.
 */
import { Installation } from '../support/installation.ts';
import { type ListCost, listCosts, tokenizerNames } from './list-costs.ts';
import { callSdk, connectSdk, eras, playSession, type TalliedCall } from './session.ts';

const installation = await Installation.start(eras.length);
try {
  for (const [index, era] of eras.entries()) {
    const token = installation.callerSettings['PHALANX_TOKEN'] ?? '';
    const client = await connectSdk({ url: installation.url, token }, era);
    const calls = await playSession(async (name, args) => callSdk(client, name, args), `TEST${index + 1}`);
    if (index === 0) printList(await listCosts(client));
    await client.close();
    print(`protocol of ${era}`, calls);
  }
} finally {
  await installation.stop();
}

function printList(costs: readonly ListCost[]): void {
  console.log(`\nthe list of tools: tokens by ${tokenizerNames.join(' and ')}`);
  for (const { name, tokens } of costs)
    console.log(`${tokenizerNames.map((one) => String(tokens[one]).padStart(6)).join('')}  ${name}`);
}

function print(title: string, calls: readonly TalliedCall[]): void {
  console.log(`\n${title}`);
  for (const { name, args, tokens } of calls)
    console.log(`${String(tokens).padStart(6)}  ${name} ${JSON.stringify(args).slice(0, 100)}`);
  const sum = calls.reduce((all, { tokens }) => all + tokens, 0);
  console.log(`${String(sum).padStart(6)}  tokens in the results of ${calls.length} calls`);
}
