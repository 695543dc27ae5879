import { type App, defineApp, type View } from '@phalanx/simulated-phone';

export interface Article {
  readonly uid: number;
  readonly name: string;
}

/** Content of the screen, and the touches on it. */
export interface Shop {
  title: string;
  articles: Article[];
  /** Scroll offset of the list in pixels. */
  offset: number;
  /** UIDs of touched articles, or the labels of other buttons. */
  readonly touched: (number | string)[];
  redraw: () => void;
}

export const shopPackage = 'dev.phalanx.test.shop';
const rowHeight = 150;
const top = 300;
const bottom = 2200;
const pageBottom = 2274;

/** Whether an article is at a touchable place. */
export const isInView = (shop: Shop, uid: number): boolean => {
  const at = shop.articles.findIndex((article) => article.uid === uid);
  const y = top + at * rowHeight - shop.offset + rowHeight / 2;
  return at >= 0 && y > top && y < bottom;
};

const words = (text: string, frame: View['frame']): View => ({
  className: 'android.widget.TextView',
  packageName: shopPackage,
  text,
  frame,
});

const button = (text: string, frame: View['frame'], onTap: () => void): View => ({
  className: 'android.widget.Button',
  packageName: shopPackage,
  resourceId: `${shopPackage}:id/${text.toLowerCase()}`,
  text,
  frame,
  onTap,
});

function rowOf(shop: Shop, { uid, name }: Article, at: number): View {
  const y = top + at * rowHeight - shop.offset;
  const frame = { left: 0, right: 1080, top: y, bottom: y + rowHeight };
  return {
    className: 'android.widget.LinearLayout',
    packageName: shopPackage,
    frame,
    children: [
      words(name, { left: 0, right: 700, top: y + 30, bottom: y + rowHeight - 30 }),
      button('Add', { ...frame, left: 700 }, () => void shop.touched.push(uid)),
    ],
  };
}

/** Creates an app with a list of articles that the test moves. Each article has a name and an identical button. */
export function createShop(): { shop: Shop; app: App } {
  const shop: Shop = { title: 'Shop', articles: [], offset: 0, touched: [], redraw: () => undefined };
  const app = defineApp({
    packageName: shopPackage,
    label: 'Shop',
    icon: 'M0 0h24v24H0z',
    color: '#204060',
    state: () => ({}),
    onStart: (context) => void (shop.redraw = context.change(() => undefined)),
    activities: {
      '.ShopActivity': () => (ui, area) => ({
        className: 'android.widget.LinearLayout',
        packageName: shopPackage,
        // Leaves no room for the keyboard, like apps with `adjustNothing`.
        frame: { ...area, bottom: pageBottom },
        children: [
          words(shop.title, { left: 0, right: 800, top: 150, bottom: 290 }),
          {
            className: 'androidx.recyclerview.widget.RecyclerView',
            packageName: shopPackage,
            frame: { left: 0, right: 1080, top, bottom },
            clips: true,
            scroll: { offset: 0, max: 1000 },
            children: shop.articles.map((article, at) => rowOf(shop, article, at)),
          },
          button('Pay', { left: 0, right: 1080, top: bottom, bottom: bottom + 100 }, () => {
            shop.touched.push('Pay');
          }),
          {
            className: 'android.widget.EditText',
            packageName: shopPackage,
            resourceId: `${shopPackage}:id/search`,
            frame: { left: 800, right: 1080, top: 150, bottom: 290 },
            text: ui.field('search').text,
            field: ui.field('search'),
            focused: ui.isFocused(ui.field('search')),
            onTap: () => ui.focus(ui.field('search')),
          },
        ],
      }),
    },
  });
  return { shop, app };
}
