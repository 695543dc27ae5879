import type { Scope } from '@phalanx/protocol';
import type { Static, TSchema } from 'typebox';

import type { ApiCalls } from './api-calls.ts';

interface Picture {
  readonly jpeg: Buffer;
}

/** Texts, each a block of its own, and pictures. */
export type ToolResult = readonly (string | Picture)[];

/** What somebody's program may be told beforehand of a tool; their token decides. */
interface Hints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

export const reading: Hints = {
  ...{ readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
};
export const changing: Hints = {
  ...{ readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
};
/** What phones do cannot be undone. */
export const acting: Hints = {
  ...{ readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
};

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The token needs all of them, or the tool is not listed. */
  readonly scopes: readonly Scope[];
  readonly hints: Hints;
  readonly input: TSchema;
  run(api: ApiCalls, args: unknown): Promise<ToolResult>;
}

interface ToolOf<Input extends TSchema> extends Omit<Tool, 'input' | 'run'> {
  readonly input: Input;
  readonly run: (api: ApiCalls, args: Static<Input>) => Promise<ToolResult>;
}

/** The arguments have been checked by the input's schema before the tool runs. */
export const defineTool = <Input extends TSchema>({ run, ...tool }: ToolOf<Input>): Tool => ({
  ...tool,
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  run: (api, args) => run(api, args as Static<Input>),
});
