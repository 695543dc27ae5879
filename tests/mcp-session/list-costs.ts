import type { Client } from '@modelcontextprotocol/client';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import llama from 'llama-tokenizer-js';

/**
 * Token counts of a text: with a vocabulary of 200,000 tokens, and with one of 32,000, which needs more tokens per
 * text.
 */
const tokenizers = {
  o200k: countTokens,
  llama: (text: string) => llama.encode(text, false, false).length,
} as const;
type Tokenizer = keyof typeof tokenizers;
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a constant has no keys but its own
export const tokenizerNames = Object.keys(tokenizers) as Tokenizer[];

export interface ListCost {
  readonly name: string;
  readonly tokens: Readonly<Record<Tokenizer, number>>;
}

/**
 * Returns the cost of the tool list in each conversation, as sent by the service: a row for each tool, the sum last.
 */
export async function listCosts(client: Client): Promise<ListCost[]> {
  const { tools } = await client.listTools();
  const costOf = (name: string, text: string): ListCost => ({
    name,
    tokens: { o200k: tokenizers.o200k(text), llama: tokenizers.llama(text) },
  });
  const rows = tools.map((tool) => costOf(tool.name, JSON.stringify(tool)));
  return [...rows, costOf(`all ${tools.length} tools`, JSON.stringify(tools))];
}
