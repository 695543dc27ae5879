import { hash } from 'node:crypto';
import type { ScreenSnapshot } from '../ui-backend.ts';
import { type ParsedTree, parseTree } from './parse-tree.ts';

/** Text that the phone has sent. */
export interface SnapshotText {
  readonly text: string;
  /**
   * Bytes in which the text arrived: the same bytes need not be parsed again. Undefined when the same bytes never
   * arrive again.
   */
  readonly bytes: Buffer | undefined;
}

const namesOtherDisplay = / display-id="[1-9]/;
/** Package of the first element that belongs to no other display. */
const ownPackage = /<(?![^<>]* display-id="[1-9])[^<>]* package="([^"]*)"/;

/** Screen that the phone reported as XML. */
export class XmlScreen implements ScreenSnapshot, SnapshotText {
  readonly text: string;
  readonly bytes: Buffer | undefined;

  constructor({ text, bytes }: SnapshotText) {
    this.text = text;
    this.bytes = bytes;
  }

  /** Digest without other displays, whose changes do not affect this screen. */
  get digest(): string {
    const told = namesOtherDisplay.test(this.text) ? JSON.stringify(this.tree()) : this.text;
    return hash('sha256', told, 'base64');
  }

  /** App of the first window; empty when unknown. */
  get packageName(): string {
    return ownPackage.exec(this.text)?.[1] ?? '';
  }

  tree(): ParsedTree {
    return parseTree(this.text);
  }
}
