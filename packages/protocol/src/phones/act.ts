import { Type, type Static } from 'typebox';

import { agentCalls } from '../agent-calls.ts';
import type { NodeIdentity } from '../compact-screen/node-identity.ts';
import { SecretName } from '../secrets.ts';

const words = Type.String({ minLength: 1, maxLength: 200 });
const isTrue = Type.Optional(Type.Literal(true));

const nodeConditions = {
  hasText: Type.Optional(words),
  hasDescription: Type.Optional(words),
  hasId: Type.Optional(words),
  hasClass: Type.Optional(words),
  isButton: isTrue,
  isEditText: isTrue,
  isTextView: isTrue,
  isImage: isTrue,
  isCheckBox: isTrue,
  isRadioButton: isTrue,
  isSwitch: isTrue,
  isWebView: isTrue,
  isClickable: isTrue,
  isScrollable: isTrue,
};
const oneOrMore = { additionalProperties: false, minProperties: 1 } as const;
const Anchor = Type.Optional(Type.Object(nodeConditions, { ...oneOrMore, examples: [{ hasText: 'Wi-Fi' }] }));

/** Conditions that automations write as methods: `{"isSwitch": true, "rightOf": {"hasText": "Wi-Fi"}}`. */
export const ActSelector = Type.Object(
  {
    ...nodeConditions,
    childOf: Anchor,
    hasDescendant: Anchor,
    rightOf: Anchor,
    leftOf: Anchor,
    below: Anchor,
    above: Anchor,
    nth: Type.Optional(
      Type.Integer({
        minimum: -100,
        maximum: 100,
        description: 'Index of the match, from 0; -1 is the last',
      }),
    ),
  },
  {
    ...oneOrMore,
    title: 'ActSelector',
    examples: [{ isSwitch: true, rightOf: { hasText: 'Wi-Fi' } }],
    description:
      'Conditions of a filter function, by name; the node must meet all of them. For conditions on what is beside the node, the nearest node is used.',
  },
);
export type ActSelector = Static<typeof ActSelector>;

const reference = Type.Integer({
  minimum: 1,
  maximum: 9999,
  description: 'Number of a line of the screen `screen_id`',
  examples: [3],
});
const text = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'Text of the node; it must match exactly one node',
  examples: ['Wi-Fi'],
});
const ActTarget = Type.Union([reference, text, ActSelector], {
  title: 'ActTarget',
  description:
    'Target node: the number of a line of the compact screen, a text, or a selector. A target that matches several nodes is refused.',
});
export type ActTarget = Static<typeof ActTarget>;
const Awaited = Type.Union([text, ActSelector]);

/** Keys with a name; other keys are given by Android's number. */
export const actKeys = {
  enter: 66,
  home: 3,
  recents: 187,
  delete: 67,
  tab: 61,
  escape: 111,
  search: 84,
  volume_up: 24,
  volume_down: 25,
  menu: 82,
} as const;
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a constant has only its own keys
export const actKeyNames = Object.keys(actKeys) as (keyof typeof actKeys)[];

const direction = Type.Enum(['down', 'up', 'left', 'right'] as const, {
  description: 'Direction of the content to bring into view: `down` moves the content up',
});
const packageName = Type.String({
  ...agentCalls['app.launch'].params.properties.packageName,
  examples: ['com.android.settings'],
});
const url = Type.String({
  ...agentCalls['app.openLink'].params.properties.url,
  examples: ['https://example.com/'],
});
const exact = { additionalProperties: false } as const;
const closeKeyboard = Type.Optional(
  Type.Boolean({ description: 'Whether to close the keyboard if it covers `on`. Default false' }),
);
const maxWaitMs = 30_000;

export const ActStep = Type.Union(
  [
    Type.Object({ type: Type.Literal('tap'), on: ActTarget, close_keyboard: closeKeyboard }, exact),
    Type.Object(
      {
        type: Type.Literal('long_press'),
        on: ActTarget,
        duration_ms: Type.Optional(
          Type.Integer({
            minimum: 300,
            maximum: 5000,
            description: 'Duration of the press, in milliseconds. Default 1000',
          }),
        ),
        close_keyboard: closeKeyboard,
      },
      exact,
    ),
    Type.Object(
      {
        type: Type.Literal('type'),
        text: Type.Optional(Type.String({ minLength: 0, maxLength: 2000 })),
        secret: Type.Optional(SecretName),
        on: Type.Optional(ActTarget),
        clear: Type.Optional(
          Type.Boolean({ description: 'Whether to clear the field first. Default false' }),
        ),
        close_keyboard: closeKeyboard,
      },
      {
        ...exact,
        description:
          'Types `text`, or the value of `secret` of the project `project_id`, into the field `on`, which is tapped first, or into the focused field',
      },
    ),
    Type.Object(
      {
        type: Type.Literal('key'),
        key: Type.Union([
          Type.Enum(actKeyNames),
          Type.Integer({ minimum: 0, maximum: 1000, description: 'Android key code' }),
        ]),
      },
      exact,
    ),
    Type.Object({ type: Type.Literal('swipe'), direction, within: Type.Optional(ActTarget) }, exact),
    Type.Object(
      {
        type: Type.Literal('scroll_to'),
        on: Awaited,
        direction: Type.Optional(direction),
        within: Type.Optional(ActTarget),
      },
      { ...exact, description: 'Swipes `within`, or else the largest list, until the target is in view' },
    ),
    Type.Object({ type: Type.Literal('launch'), package_name: packageName }, exact),
    Type.Object(
      {
        type: Type.Literal('open_link'),
        url,
        package_name: Type.Optional(packageName),
      },
      exact,
    ),
    Type.Object(
      {
        type: Type.Literal('wait_for'),
        on: Awaited,
        gone: Type.Optional(
          Type.Boolean({ description: 'Whether to wait until the node is gone instead. Default false' }),
        ),
        timeout_ms: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: maxWaitMs,
            description: 'Timeout, in milliseconds. Default 10000',
          }),
        ),
      },
      exact,
    ),
    Type.Object({ type: Type.Literal('back') }, exact),
  ],
  { title: 'ActStep' },
);
export type ActStep = Static<typeof ActStep>;
export const maxActSteps = 10;

/** Reasons why a step was not executed. */
const actRefusals = [
  'gone',
  'several',
  'switched',
  'covered',
  'not_in_view',
  'timeout',
  'app_not_allowed',
  'phone_failed',
] as const;
export const ActRefusal = Type.Enum(actRefusals, {
  title: 'ActRefusal',
  description:
    'Reason of the refusal. `gone`: the node is not on the screen. `several`: more than one node matches. `switched`: the switch has changed its position. `covered`: another node or window covers it. `timeout`: it did not appear in time. `app_not_allowed`: the token is limited to other apps.',
});
export type ActRefusal = Static<typeof ActRefusal>;

/** Node of a screen that the caller has read, in the form by which the host finds it. */
type HostNode = { readonly identity: NodeIdentity };
/**
 * Schema of such a node. The server takes the identity from the screen that it has sent to the caller, so its fields
 * are not validated.
 */
export const HostNode = Type.Unsafe<HostNode>(Type.Object({ identity: Type.Object({}) }));

/** Target of a step, in the form by which the host finds it. */
export type HostActTarget = HostNode | string | ActSelector;

/** Step as sent to a host, with identities instead of numbers, and values instead of the names of secrets. */
type ForHost<Step> = Step extends { on: ActTarget }
  ? Omit<Step, 'on' | 'within'> & { on: HostActTarget; within?: HostActTarget | undefined }
  : Omit<Step, 'on' | 'within'> & { on?: HostActTarget | undefined; within?: HostActTarget | undefined };
type Distribute<Step> = Step extends unknown ? ForHost<Step> : never;
/** Step of an `act`, as sent to a host. With `secret`, `text` is the value of the secret. */
export type HostActStep = Distribute<ActStep>;
/** Schema of the steps. The server builds them from validated steps, so their fields are not validated. */
export const HostActSteps = Type.Unsafe<HostActStep[]>(
  Type.Array(Type.Object({ type: Type.String() }), { minItems: 1, maxItems: maxActSteps }),
);

/** Answer of a host about the steps of an `act`. */
export const HostActAnswer = Type.Object({
  /** Results of the steps that were started, in order. `unfinished` means that the question timed out. */
  results: Type.Array(
    Type.Object({
      state: Type.Enum(['done', 'failed', 'unfinished'] as const),
      refusal: Type.Optional(ActRefusal),
      message: Type.Optional(Type.String({ maxLength: 2000 })),
      /** Indices of lines in the compact form of the screen. */
      candidates: Type.Optional(Type.Array(Type.Integer({ minimum: 0, maximum: 1000 }), { maxItems: 10 })),
    }),
    { maxItems: maxActSteps },
  ),
  /** Number of times that the tree was read. */
  captures: Type.Integer({ minimum: 0 }),
  /** Whether the screen has come to rest. */
  settled: Type.Boolean(),
  /** Executed steps as code of an automation. */
  code: Type.Optional(Type.Array(Type.String({ maxLength: 20_000 }), { maxItems: 10 * maxActSteps })),
});
export type HostActAnswer = Static<typeof HostActAnswer>;

const point = agentCalls['input.tap'].params.properties;
const swipe = agentCalls['input.swipe'].params.properties;
const way = { from_x: swipe.fromX, from_y: swipe.fromY, to_x: swipe.toX, to_y: swipe.toY };

/** Input that a person or a tool makes on a phone. Coordinates are pixels of the screen in its current rotation. */
export const PhoneInput = Type.Union(
  [
    Type.Object({ type: Type.Literal('tap'), x: point.x, y: point.y }),
    Type.Object({
      type: Type.Literal('swipe'),
      ...way,
      duration_ms: Type.Optional(swipe.durationMs),
    }),
    Type.Object({
      type: Type.Literal('fingers'),
      ways: Type.Array(Type.Object(way), {
        minItems: 1,
        maxItems: 10,
        description: 'Several fingers at once, each along its own path: two that move apart zoom in',
      }),
      duration_ms: Type.Optional(swipe.durationMs),
    }),
    Type.Object({ type: Type.Literal('text'), text: agentCalls['input.text'].params.properties.text }),
    Type.Object({
      type: Type.Literal('clipboard'),
      text: Type.String({
        ...agentCalls['clipboard.write'].params.properties.text,
        description: 'Text to put on the clipboard',
      }),
    }),
    Type.Object({ type: Type.Literal('key'), key_code: agentCalls['input.key'].params.properties.keyCode }),
    Type.Object({
      type: Type.Literal('launch_app'),
      package_name: agentCalls['app.launch'].params.properties.packageName,
    }),
  ],
  { title: 'PhoneInput' },
);
export type PhoneInput = Static<typeof PhoneInput>;
