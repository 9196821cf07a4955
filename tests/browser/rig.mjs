// rig.mjs - the browser, pages that may say nothing wrong, and what every test does with them.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {chromium} from 'playwright-core';
import {TOKEN} from './server.mjs';

export const rig = {browser: null, server: null, complaints: [], shots: path.resolve('shots')};

export async function launch() {
  fs.mkdirSync(rig.shots, {recursive: true});
  rig.browser = await chromium.launch({executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu']});
}

// A page that may say nothing wrong: no console errors, no violation of its policy, no request that leaves the server.
export async function open(options = {}, {server = rig.server, token = TOKEN, hash = ''} = {}) {
  const context = await rig.browser.newContext({viewport: {width: 1280, height: 800}, ...options});
  const page = await context.newPage();
  page.setDefaultTimeout(15000);
  page.on('console', (m) => { if (['error', 'warning'].includes(m.type()) && !page.expectsTrouble) rig.complaints.push(`console: ${m.text()}`); });
  page.on('pageerror', (e) => rig.complaints.push(`error: ${e.stack}`));
  page.on('dialog', (d) => { rig.complaints.push(`dialog: ${d.message()}`); d.dismiss(); });
  page.on('request', (r) => { if (!r.url().startsWith(server.url) && !/^(data|blob):/.test(r.url())) rig.complaints.push(`remote: ${r.url()}`); });
  await page.goto(`${server.url}#token=${token}`);
  await page.waitForSelector('textarea');
  if (hash) await page.goto(`${server.url}${hash}`);
  return page;
}

export const say = async (page, words) => {
  await page.fill('textarea', words);
  await page.press('textarea', 'Enter');
};
export const log = (page) => page.innerText('.log');
export const done = (page, n = 1) => page.waitForFunction((k) => document.querySelectorAll('.runend:not([hidden])').length >= k, n);
export const shot = (page, name) => page.screenshot({path: path.join(rig.shots, `${name}.png`)});
export const has = (page, words) => page.waitForFunction((w) => document.querySelector('.log')?.innerText.includes(w), words);
export const menu = async (page, words) => {
  await page.click('.menu summary');
  await page.click(`.menu-list >> text=${words}`);
};
export const idOf = (page) => decodeURIComponent(page.url().split('/s/')[1]);

// Contrast of all text in view against what is behind it, as WCAG 2 counts it: what is below 4.5 (large text: 3).
export const poorContrast = (page) => page.evaluate(() => {
  const pixel = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const colour = (text) => {
    pixel.clearRect(0, 0, 1, 1);
    pixel.fillStyle = text;
    pixel.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = pixel.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (f, b) => [0, 1, 2].map((i) => f[i] * f[3] + b[i] * (1 - f[3])).concat(1);
  const light = (c) => c.slice(0, 3).map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const up = (el) => (el ? [el, ...up(el.parentElement)] : []);
  const poor = new Map();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const el = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !el.checkVisibility({opacityProperty: true, visibilityProperty: true}) || !el.getBoundingClientRect().width) continue;
    const style = getComputedStyle(el);
    const behind = up(el).map((e) => colour(getComputedStyle(e).backgroundColor)).reverse().reduce((b, f) => over(f, b), [255, 255, 255, 1]);
    const own = colour(style.color);
    const front = light(over([...own.slice(0, 3), own[3] * up(el).reduce((o, e) => o * getComputedStyle(e).opacity, 1)], behind));
    const ratio = (Math.max(front, light(behind)) + 0.05) / (Math.min(front, light(behind)) + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) poor.set(`${el.tagName}.${el.className}`, `${ratio.toFixed(2)} ${walk.currentNode.data.trim().slice(0, 30)}`);
  }
  return [...poor];
});

export {assert};
