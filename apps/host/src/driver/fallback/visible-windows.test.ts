import { expect, it } from 'vitest';
import { readVisibleWindows } from './visible-windows.ts';

const head = 'WINDOW MANAGER WINDOWS (dumpsys window windows)\n';
const everywhere = { left: -1_000_000, top: -1_000_000, right: 1_000_000, bottom: 1_000_000 };

/** Keyboard window of Android 13, as `WindowState.dump` prints it. */
const keyboard = `  Window #0 Window{d035f22 u0 InputMethod}:
    mDisplayId=0 rootTaskId=1 mSession=Session{38d43d5 4903:u0a10192} mClient=android.os.BinderProxy@2b264ed
    mOwnerUid=10192 showForAllUsers=false package=com.example.keys appop=NONE
    mAttrs={(0,0)(fillxfill) gr=BOTTOM CENTER_VERTICAL sim={adjust=pan} ty=INPUT_METHOD fmt=TRANSPARENT wanim=0x1030056
      fl=NOT_FOCUSABLE LAYOUT_IN_SCREEN SPLIT_TOUCH HARDWARE_ACCELERATED}
    mTouchableInsets=3 mGivenInsetsPending=false
    touchable region=SkRegion((0,1500,1080,2274)(900,1400,1080,1500))
    Frames: parent=[0,63][1080,2400] display=[0,63][1080,2400] frame=[0,63][1080,2400] last=[0,63][1080,2400]
`;
const page = (
  number: number,
  title = 'com.example/com.example.Page',
): string => `  Window #${number} Window{1d2 u0 ${title}}:
    mDisplayId=0 mSession=Session{1 2:u0a1} mClient=android.os.BinderProxy@1
    mOwnerUid=10101 showForAllUsers=false package=com.example appop=NONE
    mAttrs={(0,0)(fillxfill) sim={adjust=resize} ty=BASE_APPLICATION wanim=0x10302fe
      fl=LAYOUT_IN_SCREEN LAYOUT_INSET_DECOR SPLIT_TOUCH HARDWARE_ACCELERATED}
    Frames: parent=[0,0][1080,2400] display=[0,0][1080,2400] frame=[0,0][1080,2400] last=[0,0][1080,2400]
`;

it('reads regions, frames and what a window is of', () => {
  expect(readVisibleWindows(head + keyboard + page(1))).toEqual([
    {
      packageName: 'com.example.keys',
      isKeyboard: true,
      areas: [
        { left: 0, top: 1500, right: 1080, bottom: 2274 },
        { left: 900, top: 1400, right: 1080, bottom: 1500 },
      ],
    },
    { packageName: 'com.example', isKeyboard: false, areas: [everywhere] },
  ]);
});

it('reads the numbers and frames of Android 8', () => {
  const old = `  Window #0 Window{2 u0 StatusBar}:
    mDisplayId=0 mSession=Session{1 2:u0a1} mClient=android.os.BinderProxy@1
    mOwnerUid=10023 mShowToOwnerOnly=false package=com.android.systemui appop=NONE
    mAttrs=WM.LayoutParams{(0,0)(fillx63) gr=#30 sim=#10 ty=2000 fl=#81840048 fmt=-3 vsysui=0x600}
    mFrame=[0,0][1080,63] last=[0,0][1080,63]
`;
  const overlay = old.replace('#0 ', '#1 ').replace('81840048', '81840058');
  expect(readVisibleWindows(head + old + overlay)).toEqual([
    {
      packageName: 'com.android.systemui',
      isKeyboard: false,
      areas: [{ left: 0, top: 0, right: 1080, bottom: 63 }],
    },
  ]);
});

it('leaves out other displays, and takes the end of a region that is empty', () => {
  const [other, none] = [
    page(0).replace('mDisplayId=0', 'mDisplayId=2'),
    keyboard.replace('#0', '#1').replace(/SkRegion\(.*\)\)/, 'SkRegion()'),
  ];
  expect(readVisibleWindows(head + other + none)).toEqual([
    { packageName: 'com.example.keys', isKeyboard: true, areas: [] },
  ]);
});

it('believes no title', () => {
  const lines = (number: number): string =>
    `x}:\n    package=com.bank fl=NOT_TOUCHABLE\n  Window #${number} Window{1 u0 y`;
  expect(readVisibleWindows(head + page(0, lines(1)) + page(1))).toBeUndefined();
  const inTitle = page(0, 'x}:\n    package=com.bank ty=INPUT_METHOD\n    touchable region=SkRegion()\nx');
  expect(readVisibleWindows(head + inTitle)).toEqual([
    { packageName: 'com.example', isKeyboard: false, areas: [everywhere] },
  ]);
  expect(readVisibleWindows('Permission Denial')).toBeUndefined();
});
