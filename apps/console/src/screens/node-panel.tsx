import { nodeStates } from '@phalanx/automation/node-states';
import { proposeSelectors, type SelectorProposal } from '@phalanx/automation/selectors';
import { useMemo } from 'react';

import { Button } from '../parts/button.tsx';
import { CopyButton } from '../parts/copy.tsx';
import styles from './inspector.module.css';

function attributesOf(node: AndroidNode): [name: string, value: string][] {
  const { left, top, right, bottom } = node.boundsInScreen;
  const all: [string, string | null | undefined][] = [
    ['class', node.className],
    ['id', node.viewId],
    ['text', node.text],
    ['description', node.description],
    ['hint', node.hintText],
    ['pane', node.paneTitle],
    ['package', node.packageName],
    ['bounds', `${left},${top} – ${right},${bottom}`],
    ['size', `${right - left} × ${bottom - top}`],
    ['is', nodeStates(node).join(', ')],
    ['children', String(node.children.length)],
  ];
  return all.flatMap(([name, value]) =>
    value === null || value === undefined || value === '' ? [] : [[name, value]],
  );
}

/** What is known of a node, and the code that finds it. */
export const NodePanel = ({ node }: { node: AndroidNode }) => (
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
  <div className={styles['node']} tabIndex={0} role="region" aria-label="Node">
    <section>
      <h3>Selectors, tested on this screen</h3>
      <SelectorList node={node} />
    </section>
    <section>
      <h3>Attributes</h3>
      <dl className={styles['attributes']}>
        {attributesOf(node).map(([name, value]) => (
          <div key={name} style={{ display: 'contents' }}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  </div>
);

interface SelectorListProps {
  node: AndroidNode;
  /** Where the code goes, besides the clipboard. */
  onInsert?: (code: string) => void;
  /** Why it can't go there. */
  reason?: string | undefined;
}

/** The code that finds a node, the most lasting first. */
export function SelectorList({ node, onInsert, reason }: SelectorListProps) {
  const proposals = useMemo(() => proposeSelectors(node), [node]);
  if (proposals.length === 0)
    return (
      <p className={styles['none']}>
        Nothing distinguishes this node. Choose the node around it, or one inside it.
      </p>
    );
  return proposals.map((proposal) => (
    <div key={proposal.wait} className={styles['selector']}>
      <code>{proposal.wait}</code>
      <span className={styles['uses']}>
        {onInsert !== undefined && (
          <Button
            reason={reason}
            aria-label={`Insert the code that finds it by ${proposal.kind}`}
            onClick={() => onInsert(proposal.code)}
          >
            Insert
          </Button>
        )}
        <CopyButton text={proposal.code} label={`Copy the code that finds it by ${proposal.kind}`} />
      </span>
      <span className={styles['proof']} data-good={isLasting(proposal)}>
        {isLasting(proposal) ? '✓' : '▲'} {proofOf(proposal)}
      </span>
    </div>
  ));
}

const isLasting = ({ finds, dependsOn }: SelectorProposal): boolean =>
  dependsOn === undefined && (finds === 'alone' || finds === 'nearest');

function proofOf({ finds, count, dependsOn }: SelectorProposal): string {
  if (finds === 'another') return `finds another node first, of ${count}`;
  if (dependsOn === 'state') return 'finds this node only in its present state';
  if (dependsOn === 'order') return 'finds this node by its position, which may change';
  if (finds === 'first') return `finds this node first, of ${count}`;
  return finds === 'alone' ? 'finds only this node' : `finds this node as the nearest of ${count}`;
}
