import { parseGolden, type ScreenTree } from '@phalanx/protocol';

/** A made-up screen of an app, of which it is known which screen it is. */
export interface LabelledScreen {
  label: string;
  language: string;
  tree: ScreenTree;
}

export interface Variety {
  /** Another number, other screens. */
  seed: number;
  hasIds: boolean;
  languages: readonly string[];
  versions: readonly number[];
}

type Node = Record<string, unknown> & { children?: Node[] };

const packageName = 'com.example.shop';
const sizes = [
  { width: 1080, height: 2400, maxItems: 9 },
  { width: 720, height: 1280, maxItems: 5 },
  { width: 800, height: 1280, maxItems: 7 },
];
const screenCount = 25;
const dataSets = 3;

/** Numbers from 0 to `below`, the same for the same seed (mulberry32). */
function numbersOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Each screen in all languages, versions of the app, sizes and sets of data. */
export function labelledScreens({ seed, hasIds, languages, versions }: Variety): LabelledScreen[] {
  const screens: LabelledScreen[] = [];
  for (let number = 0; number < screenCount; number += 1)
    for (const language of languages)
      for (const version of versions)
        for (const size of sizes)
          for (let data = 0; data < dataSets; data += 1) {
            const made = new ScreenMaker({
              seed: seed * 1000 + number,
              number,
              hasIds,
              language,
              version,
              data,
            });
            screens.push({ label: `screen ${number}`, language, tree: made.tree(size) });
          }
  return screens;
}

interface Making {
  seed: number;
  number: number;
  hasIds: boolean;
  language: string;
  version: number;
  data: number;
}

class ScreenMaker {
  readonly #making: Making;
  /** The same for all that are one screen. */
  readonly #choose: (below: number) => number;
  readonly #chance: (below: number) => number;

  constructor(making: Making) {
    this.#making = making;
    this.#choose = numbersOf(making.seed);
    this.#chance = numbersOf(making.seed * 31 + making.data + 1);
  }

  tree({ width, height, maxItems }: (typeof sizes)[number]): ScreenTree {
    const { number, version } = this.#making;
    const kind = number % 5;
    const rows = [this.#text('title', `title ${number}`), ...this.#body(kind, maxItems)];
    if (version === 2 && this.#choose(2) === 0) rows.push(this.#button('new', `new ${number}`));
    const body: Node = { className: 'android.widget.LinearLayout', children: rows };
    // Wide screens have one more frame around all.
    const frame = width === 800 ? { className: 'android.widget.FrameLayout', children: [body] } : body;
    const bounds = [0, 0, width, height];
    const tree = placed({ className: 'android.widget.FrameLayout', packageName, children: [frame] }, bounds);
    const screen = { packageName, rotation: 0, capturedAt: 1 };
    return parseGolden(JSON.stringify({ version: 1, expect: { state: 'x' }, screen, tree })).tree;
  }

  #body(kind: number, maxItems: number): Node[] {
    const { number } = this.#making;
    const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
    if (kind === 0) {
      const fields = range(2 + this.#choose(3)).map((index) => this.#field(`field ${number} ${index}`));
      return [...fields, this.#button('next', 'continue')];
    }
    if (kind === 1)
      return [
        this.#list(range(2 + this.#chance(maxItems - 1)).map(() => this.#item())),
        this.#text('count', ''),
      ];
    if (kind === 2)
      return range(2 + this.#choose(4)).map((index) => this.#row(`entry ${number} ${index}`, index));
    if (kind === 3)
      return [
        this.#text('message', `message ${number}`),
        this.#button('ok', 'ok'),
        this.#button('no', 'later'),
      ];
    return [
      this.#text('price', ''),
      this.#text('about', `about ${number}`),
      this.#button('buy', `buy ${number}`),
    ];
  }

  #id(name: string): Node {
    const { hasIds, number, version } = this.#making;
    if (!hasIds) return {};
    const renamed = version === 2 && name === 'next' ? 'proceed' : name;
    const own = ['title', 'count'].includes(name) ? renamed : `${renamed}_of_${words[number]}`;
    return { viewId: `${packageName}:id/${own}` };
  }

  /** Returns the label of a name; without a name, it is data. */
  #label(name: string): string {
    if (name === '') return `${goods[this.#chance(goods.length)]} ${this.#chance(900)}`;
    return `${this.#making.language} ${name.replaceAll(/\d+/g, (digits) => words[Number(digits)] ?? digits)}`;
  }

  #text(id: string, name: string): Node {
    return { className: 'android.widget.TextView', text: this.#label(name), ...this.#id(id) };
  }

  #button(id: string, name: string): Node {
    return { ...this.#text(id, name), className: 'android.widget.Button', clickable: true };
  }

  #field(name: string): Node {
    const id = this.#id(`field_${words[Number(name.split(' ')[2])]}`);
    return { className: 'android.widget.EditText', hintText: this.#label(name), clickable: true, ...id };
  }

  #row(name: string, index: number): Node {
    const title = { className: 'android.widget.TextView', text: this.#label(name) };
    const icon = { className: 'android.widget.ImageView' };
    const children = this.#making.number % 2 === 0 ? [icon, title] : [title];
    return {
      className: 'android.widget.LinearLayout',
      clickable: true,
      ...this.#id(`row_${words[index]}`),
      children,
    };
  }

  #item(): Node {
    const texts = ['', ''].map(() => ({ className: 'android.widget.TextView', text: this.#label('') }));
    return { className: 'android.widget.LinearLayout', clickable: true, children: texts };
  }

  #list(children: Node[]): Node {
    return {
      className: 'androidx.recyclerview.widget.RecyclerView',
      scrollable: true,
      ...this.#id('list'),
      children,
    };
  }
}

const words =
  `amber birch cedar delta ember fjord grove haven inlet jetty knoll ledge marsh north ocean plain quarry ridge
  shore tower union vale west yard zinc`.split(/\s+/);
const goods = 'Lamp Chair Desk Mug Rug Sofa Clock Vase Shelf Mirror Plant Frame'.split(' ');

const placed = (node: Node, bounds: readonly number[]): Node => ({
  ...node,
  bounds,
  ...(node.children === undefined ? {} : { children: node.children.map((child) => placed(child, bounds)) }),
});
