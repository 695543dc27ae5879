import { deepStrictEqual as same, ok } from 'node:assert/strict';

import type { Commands } from './command.ts';
import { idOf, type WebDriver } from './web-driver.ts';

const formPackage = 'dev.phalanx.sample.form';
const nameId = `${formPackage}:id/name`;

const nameField = (driver: WebDriver): Promise<string> => driver.find('id', nameId);
const hintOf = (driver: WebDriver, element: string): Promise<unknown> => driver.attribute(element, 'hint');

async function type(driver: WebDriver, text: string): Promise<string> {
  const field = await nameField(driver);
  await driver.post(`element/${field}/value`, { text });
  return field;
}

interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

async function rectOf(driver: WebDriver, element: string): Promise<Rect> {
  return (await driver.get(`element/${element}/rect`)) as Rect;
}

const isPng = (base64: unknown): boolean =>
  Buffer.from(String(base64), 'base64').subarray(1, 4).toString() === 'PNG';

export const elementCommands: Commands = {
  'find by id': async (driver) => same(await hintOf(driver, await nameField(driver)), 'Full name'),
  'find by class name': async (driver) =>
    same(await hintOf(driver, await driver.find('class name', 'android.widget.EditText')), 'Full name'),
  'find by xpath': async (driver) => {
    const field = await driver.find('xpath', `//android.widget.EditText[@resource-id="${nameId}"]`);
    same(await hintOf(driver, field), 'Full name');
  },
  'find by accessibility id': async (driver) => {
    await driver.post(`element/${await driver.findText('Country')}/click`);
    await driver.find('accessibility id', 'Navigate up');
  },
  'find by UiSelector': async (driver) => ok((await driver.findText('Registration')) !== ''),
  'find elements': async (driver) => {
    const found = await driver.post('elements', { using: 'class name', value: 'android.widget.EditText' });
    ok(Array.isArray(found) && found.length >= 4);
  },
  'find within an element': async (driver) => {
    const list = await driver.find('id', `${formPackage}:id/form`);
    same(await hintOf(driver, await driver.find('id', nameId, list)), 'Full name');
  },
  'no such element': async (driver) => {
    const problem: unknown = await driver.find('id', 'nothing').catch((error: unknown) => error);
    ok(String(problem).includes('no such element'));
  },
  'active element': async (driver) => {
    await driver.post(`element/${await nameField(driver)}/click`);
    same(await hintOf(driver, idOf(await driver.get('element/active'))), 'Full name');
  },
  click: async (driver) => {
    await driver.post(`element/${await driver.findText('Country')}/click`);
    await driver.findText('Kenya');
  },
  'send keys': async (driver) => {
    const field = await type(driver, 'Zoë 北京');
    same(await driver.get(`element/${field}/text`), 'Zoë 北京');
  },
  clear: async (driver, phone) => {
    const field = await type(driver, 'Ada');
    await driver.post(`element/${field}/clear`);
    same(phone.android.findFieldText('name'), '');
  },
  text: async (driver) => same(await driver.get(`element/${await driver.findText('You')}/text`), 'You'),
  name: async (driver) =>
    same(typeof (await driver.get(`element/${await nameField(driver)}/name`)), 'string'),
  attribute: async (driver) =>
    same(await driver.attribute(await nameField(driver), 'className'), 'android.widget.EditText'),
  rect: async (driver) => {
    const { width, height } = await rectOf(driver, await nameField(driver));
    ok(width > 100 && height > 10);
  },
  displayed: async (driver) => same(await driver.get(`element/${await nameField(driver)}/displayed`), true),
  enabled: async (driver) => same(await driver.get(`element/${await nameField(driver)}/enabled`), true),
  selected: async (driver) => same(await driver.get(`element/${await nameField(driver)}/selected`), false),
  'screenshot of an element': async (driver) =>
    ok(isPng(await driver.get(`element/${await nameField(driver)}/screenshot`))),
  'mobile: replaceElementValue': async (driver, phone) => {
    const elementId = await type(driver, 'Ada');
    await driver.mobile('replaceElementValue', { elementId, text: 'Grace' });
    same(phone.android.findFieldText('name'), 'Grace');
  },
  'mobile: type': async (driver, phone) => {
    await driver.post(`element/${await nameField(driver)}/click`);
    await driver.mobile('type', { text: 'Ada' });
    same(phone.android.findFieldText('name'), 'Ada');
  },
  source: async (driver) => ok(String(await driver.get('source')).includes(nameId)),
  screenshot: async (driver) => ok(isPng(await driver.get('screenshot'))),
};
