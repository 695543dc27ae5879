import { nodeStates } from '@phalanx/automation/node-states';
import { proposeSelectors } from '@phalanx/automation/selectors';
import type { HostQuestionOf, NodeInspection } from '@phalanx/protocol';

import type { Phone } from '../phone.ts';
import { findTarget, readAs } from './act/find-target.ts';
import { PhoneEye } from './act/phone-look.ts';
import type { AnswerContext } from './answer-context.ts';

const maxTextLength = 1000;
/** A selector of texts that are longer is read by nobody. */
const maxCodeLength = 2000;

/** JSON of a `NodeInspection`. Rejects when the node is gone or can no longer be told from its equals. */
export async function inspectNode(
  phone: Phone,
  { node: wanted, app_limit }: HostQuestionOf<'node'>,
  { signal }: AnswerContext,
): Promise<Buffer> {
  const look = await new PhoneEye(phone.driver().limitedTo(app_limit), signal).look();
  const { node } = findTarget(look, wanted);
  return Buffer.from(JSON.stringify(inspectionOf(readAs(look, node))));
}

function inspectionOf(node: AndroidNode): NodeInspection {
  const { left, top, right, bottom } = node.boundsInScreen;
  return {
    class_name: shortened(node.className),
    id: shortened(node.viewId),
    text: shortened(node.text),
    description: shortened(node.description),
    hint: shortened(node.hintText),
    package_name: shortened(node.packageName) ?? '',
    bounds: { left, top, right, bottom },
    is: nodeStates(node),
    children: node.children.length,
    selectors: proposeSelectors(node)
      .filter(({ code }) => code.length <= maxCodeLength)
      .map(({ wait, find, code, count, finds, dependsOn }) => ({
        ...{ wait, find, use: code, count, finds },
        depends_on: dependsOn ?? null,
      })),
  };
}

const shortened = (text: string | null | undefined): string | null => text?.slice(0, maxTextLength) ?? null;
