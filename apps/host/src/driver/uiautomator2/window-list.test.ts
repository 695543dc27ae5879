import { expect, it } from 'vitest';
import { readWindowList } from './window-list.ts';

const rect = { x: 0, y: 1500, width: 1080, height: 774 };

it('reads the windows of the main display', () => {
  const told = [
    { windowId: 5, displayId: 2, packageName: 'com.car.cluster', rect },
    { windowId: 7, displayId: 0, packageName: 'com.example.keys', rect, screenshot: null },
    { windowId: 8, displayId: 0, packageName: null, rect },
  ];
  const areas = [{ left: 0, top: 1500, right: 1080, bottom: 2274 }];
  expect(readWindowList(told)).toEqual([
    { packageName: 'com.example.keys', areas },
    { packageName: '', areas },
  ]);
});

it.each([[undefined], [{}], [[{ packageName: 'x' }]], [[{ rect: { ...rect, x: 1e9 } }]], ['windows']])(
  'takes %j for no list of windows',
  (value) => {
    expect(readWindowList(value)).toBeUndefined();
  },
);
