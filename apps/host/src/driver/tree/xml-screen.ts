import { hash } from 'node:crypto';
import type { ToldScreen } from '../ui-backend.ts';
import { type ParsedTree, parseTree } from './parse-tree.ts';

/** A text that the phone has told. */
export interface ToldText {
  readonly text: string;
  /** Bytes in which it came: the same bytes need not be read again. Undefined where it never comes in the same. */
  readonly bytes: Buffer | undefined;
}

const namesOtherDisplay = / display-id="[1-9]/;
/** Package of the first element that is of no other display. */
const ownPackage = /<(?![^<>]* display-id="[1-9])[^<>]* package="([^"]*)"/;

/** A screen that was told as XML. */
export class XmlScreen implements ToldScreen, ToldText {
  readonly text: string;
  readonly bytes: Buffer | undefined;

  constructor({ text, bytes }: ToldText) {
    this.text = text;
    this.bytes = bytes;
  }

  /** Changes on other displays are none of this screen. */
  get digest(): string {
    const told = namesOtherDisplay.test(this.text) ? JSON.stringify(this.tree()) : this.text;
    return hash('sha256', told, 'base64');
  }

  /** The app of the first window; empty when nobody knows. */
  get packageName(): string {
    return ownPackage.exec(this.text)?.[1] ?? '';
  }

  tree(): ParsedTree {
    return parseTree(this.text);
  }
}
