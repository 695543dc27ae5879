import { CodeCompletion, CodeReferences, CodeSymbol } from '@phalanx/protocol/code';
import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/compile';

const Settings = Type.Object({
  options: Type.Record(Type.String(), Type.Union([Type.Boolean(), Type.String()])),
});

/** First message, with the declarations that every project sees. */
const StartMessage = Type.Object({ kind: Type.Literal('start'), agentTypes: Type.String() });

/**
 * Changes of a project's files, sent before a check. A null content means that the file exists, without stating its
 * content.
 */
const FilesMessage = Type.Object({
  kind: Type.Literal('files'),
  root: Type.String(),
  set: Type.Array(Type.Tuple([Type.String(), Type.Union([Type.String(), Type.Null()])])),
  removed: Type.Array(Type.String()),
});

/** Request to check one file, or all sources without `path`, and to emit the checked files. */
const CheckMessage = Type.Object({
  kind: Type.Literal('check'),
  root: Type.String(),
  settings: Settings,
  path: Type.Optional(Type.String()),
});

/** Request for the symbol, completions or references at a position of a file. */
const AssistMessage = Type.Object({
  kind: Type.Literal('assist'),
  root: Type.String(),
  settings: Settings,
  path: Type.String(),
  position: Type.Integer(),
  of: Type.Enum(['symbol', 'completions', 'references']),
});

const name = Type.String({ maxLength: 1000 });

/** JSON of a `SignCondition` of the runtime. */
export const SignConditionJson = Type.Union([
  Type.Object({ by: Type.Enum(['id', 'absent', 'selected'] as const), id: name }),
  Type.Object({ by: Type.Literal('text'), texts: Type.Array(name, { minItems: 1, maxItems: 4 }) }),
  Type.Object({ by: Type.Literal('package'), packageName: name }),
]);

/** Request to change code, once per sign, so that it recognises a screen by the sign. */
const AddSignsMessage = Type.Object({
  kind: Type.Literal('add signs'),
  root: Type.String(),
  settings: Settings,
  name: Type.String(),
  as: Type.Enum(['state', 'dialog'] as const),
  signs: Type.Array(Type.Array(SignConditionJson)),
  button: Type.Union([SignConditionJson, Type.Null()]),
  claimedBy: Type.String(),
  stage: Type.String(),
});

export const nothingFound: Assistance = {
  symbol: null,
  completions: [],
  references: { definition: null, references: [] },
};

export type AddSignsMessage = Static<typeof AddSignsMessage>;

const BundleKind = Type.Enum(['project', 'direct code']);
export type BundleKind = Static<typeof BundleKind>;

const BundleMessage = Type.Object({
  kind: Type.Literal('bundle'),
  of: BundleKind,
  paths: Type.Array(Type.String()),
  settings: Settings,
  /** Contents that the process does not have to request. */
  given: Type.Array(Type.Tuple([Type.String(), Type.String()])),
});

/** Reply to `read`. The content is null when there is no such file. */
const ContentMessage = Type.Object({
  kind: Type.Literal('content'),
  path: Type.String(),
  content: Type.Union([Type.String(), Type.Null()]),
});

/** Request to evict a warm project. */
const ForgetMessage = Type.Object({ kind: Type.Literal('forget'), root: Type.String() });

const ToProcess = Type.Union([
  StartMessage,
  FilesMessage,
  CheckMessage,
  AssistMessage,
  AddSignsMessage,
  BundleMessage,
  ContentMessage,
  ForgetMessage,
]);
/**
 * Message from the server to a compile process. At most one `check`, `assist`, `add signs` or `bundle` is in flight.
 */
export type ToProcess = Static<typeof ToProcess>;
export type FilesMessage = Static<typeof FilesMessage>;
export type CheckMessage = Static<typeof CheckMessage>;
export type AssistMessage = Static<typeof AssistMessage>;
export type BundleMessage = Static<typeof BundleMessage>;

/** IDs of all processes that count towards the memory limit, sent whenever another one has started. */
const ProcessesMessage = Type.Object({
  kind: Type.Literal('processes'),
  processIds: Type.Array(Type.Integer()),
});

/** Reply to a check. If `wanted` is not empty, the server must send those files and ask again. */
const CheckedMessage = Type.Object({
  kind: Type.Literal('checked'),
  errors: Type.Array(Type.String()),
  outputs: Type.Array(Type.Tuple([Type.String(), Type.String()])),
  wanted: Type.Array(Type.String()),
  /** Errors in other files that depend on the checked one. */
  warnings: Type.Array(Type.String()),
});

const AssistedMessage = Type.Object({
  kind: Type.Literal('assisted'),
  symbol: Type.Union([CodeSymbol, Type.Null()]),
  completions: Type.Array(CodeCompletion),
  references: CodeReferences,
  wanted: Type.Array(Type.String()),
});

/** Changed files per sign, or the reason why there are none. */
const SignsAddedMessage = Type.Object({
  kind: Type.Literal('signs added'),
  fixes: Type.Array(
    Type.Object({
      files: Type.Array(Type.Object({ path: Type.String(), content: Type.String(), diff: Type.String() })),
      problem: Type.String(),
    }),
  ),
  wanted: Type.Array(Type.String()),
});

const BundledMessage = Type.Object({
  kind: Type.Literal('bundled'),
  errors: Type.Array(Type.String()),
  code: Type.String(),
  sourceMap: Type.String(),
});

const ReadMessage = Type.Object({ kind: Type.Literal('read'), path: Type.String() });

const FromProcess = Type.Union([
  ProcessesMessage,
  CheckedMessage,
  AssistedMessage,
  SignsAddedMessage,
  BundledMessage,
  ReadMessage,
]);
/** Message from a compile process to the server. */
export type FromProcess = Static<typeof FromProcess>;
export type CheckedMessage = Static<typeof CheckedMessage>;
export type AssistedMessage = Static<typeof AssistedMessage>;
export type SignsAddedMessage = Static<typeof SignsAddedMessage>;
type BundledMessage = Static<typeof BundledMessage>;

const toProcess = Compile(ToProcess);
const fromProcess = Compile(FromProcess);

export const isToProcess = (message: unknown): message is ToProcess => toProcess.Check(message);
export const isFromProcess = (message: unknown): message is FromProcess => fromProcess.Check(message);

/** Information about a place in code. */
export type Assistance = Omit<AssistedMessage, 'kind' | 'wanted'>;
