import { hash } from 'node:crypto';
import type { ToldScreen } from '../ui-backend.ts';
import { type ParsedTree, parseTree } from './parse-tree.ts';

/** A text that the phone has told. */
export interface ToldText {
  readonly text: string;
  /** What it came in: the same bytes need not be read again. Undefined where it never comes in the same. */
  readonly bytes: Buffer | undefined;
}

/** A screen that was told as XML. */
export class XmlScreen implements ToldScreen, ToldText {
  readonly text: string;
  readonly bytes: Buffer | undefined;

  constructor({ text, bytes }: ToldText) {
    this.text = text;
    this.bytes = bytes;
  }

  get digest(): string {
    return hash('sha256', this.text, 'base64');
  }

  tree(): ParsedTree {
    return parseTree(this.text);
  }
}
