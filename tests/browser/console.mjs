// console.mjs - what a person does with the console page, one function a behaviour. Usage: node console.mjs PROGRAM [NAME…]
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {chromium} from 'playwright-core';
import {Server, TOKEN} from './server.mjs';

const LONG = Array.from({length: 60}, (_, i) => `word${i}`).join(' ');
const script = {
  rules: [
    {when: {user: 'slow'}, reply: [{text: LONG, chunk: 6, delay_ms: 40}]},
    {when: {user: 'turn left'}, reply: [{text: 'I turn left.'}]},
    {when: {user: 'afterwards'}, reply: [{text: 'And that as well.'}]},
    {when: {user: 'look around', step: 1}, reply: [{thinking: 'First the folder.'}, {text: 'I look.'}, {tool: 'bash', args: {command: 'echo seen it'}}]},
    {when: {user: 'look around', failed: true}, reply: [{text: 'Then I do not look.'}]},
    {when: {user: 'look around'}, reply: [{text: 'I have looked.'}]},
    {when: {user: 'sleep', step: 1}, reply: [{tool: 'bash', args: {command: 'sleep 30'}}]},
    {when: {user: 'nap', step: 1}, reply: [{tool: 'bash', args: {command: 'echo so far; sleep 60'}}]},
    {when: {user: 'nap'}, reply: [{text: 'Awake again.'}]},
    {when: {user: 'write', step: 1}, reply: [{tool: 'write', args: {path: 'note.txt', content: 'one\ntwo\n'}}]},
    {when: {user: 'paint'}, reply: [{text: '# Title\n\n**bold** `code` <b>no tag</b>\n\n- a\n- b\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n```c\nint x;\n```\n\n![p](https://evil.example/p.png) [ok](https://example.org/) [bad](javascript:alert(1))'}]},
    {when: {user: 'steer me', step: 1}, reply: [{tool: 'bash', args: {command: 'sleep 2'}}]},
  ],
  otherwise: [{text: 'You said: {{user}}'}],
};

const [program, ...only] = process.argv.slice(2);
const shots = path.resolve('shots');
fs.mkdirSync(shots, {recursive: true});
const server = new Server(program, script);
let browser;
let complaints = [];

// A page that may say nothing wrong: no console errors, no violation of its policy, no request that leaves the server.
async function open(options = {}) {
  const context = await browser.newContext({viewport: {width: 1280, height: 800}, ...options});
  const page = await context.newPage();
  page.setDefaultTimeout(15000);
  page.on('console', (m) => { if (['error', 'warning'].includes(m.type()) && !page.expectsTrouble) complaints.push(`console: ${m.text()}`); });
  page.on('pageerror', (e) => complaints.push(`error: ${e.stack}`));
  page.on('request', (r) => { if (!r.url().startsWith(server.url) && !/^(data|blob):/.test(r.url())) complaints.push(`remote: ${r.url()}`); });
  await page.goto(`${server.url}#token=${TOKEN}`);
  await page.waitForSelector('textarea');
  return page;
}

const say = async (page, words) => {
  await page.fill('textarea', words);
  await page.press('textarea', 'Enter');
};
const log = (page) => page.innerText('.log');
const done = (page, n = 1) => page.waitForFunction((k) => document.querySelectorAll('.runend').length >= k, n);
const shot = (page, name) => page.screenshot({path: path.join(shots, `${name}.png`)});
const has = (page, words) => page.waitForFunction((w) => document.querySelector('.log').innerText.includes(w), words);

const tests = {
  async prompt_and_answer() {
    const page = await open();
    await say(page, 'hello');
    await has(page, 'You said: hello');
    await done(page);
    await page.waitForFunction(() => document.title === 'hello · hob');
    await page.waitForFunction(() => document.querySelector('.sessions a[aria-current] .text')?.innerText === 'hello');
    assert.ok(!page.url().includes(TOKEN), 'the token is not in the address');
    await shot(page, 'prompt');
    await page.context().close();
  },
  async streaming() {
    const page = await open();
    await say(page, 'slow');
    await has(page, 'word3');
    const part = await log(page);
    assert.ok(!part.includes('word59'), 'the text grows');
    await shot(page, 'streaming');
    await done(page);
    assert.ok((await log(page)).includes(LONG));
    await page.context().close();
  },
  async approval() {
    const page = await open();
    await say(page, 'look around');
    await page.waitForSelector('[data-answer=allow]');
    await page.waitForFunction(() => document.title.startsWith('(!)'));
    await shot(page, 'approval');
    await page.click('[data-answer=allow]');
    await has(page, 'I have looked.');
    await done(page);
    assert.ok((await page.innerText('.card .badge')).includes('done'));
    await page.context().close();
  },
  async deny_with_a_reason() {
    const page = await open();
    await say(page, 'look around');
    await page.fill('.approval input', 'not today');
    await page.click('[data-answer=deny]');
    await has(page, 'Then I do not look.');
    await done(page);
    assert.ok((await log(page)).includes('not today'));
    await page.context().close();
  },
  async steer() {
    const page = await open();
    await say(page, 'steer me');
    await page.click('[data-answer=allow]');
    await page.waitForSelector('.steer:visible');
    await say(page, 'turn left');
    await has(page, 'I turn left.');
    await done(page);
    await shot(page, 'steer');
    await page.context().close();
  },
  async one_call_is_stopped_and_the_run_goes_on() {
    const page = await open();
    await say(page, 'nap');
    await page.click('[data-answer=allow]');
    await has(page, 'so far');
    await page.click('.card[data-state=running] [data-stop]');
    await has(page, 'Awake again.');
    await done(page);
    assert.ok((await page.innerText('.card .badge')).includes('stopped'));
    await shot(page, 'one-call');
    await page.context().close();
  },
  async queue() {
    const page = await open();
    await say(page, 'slow');
    await has(page, 'word1');
    await page.fill('textarea', 'afterwards');
    await page.press('textarea', 'Alt+Enter');
    await page.waitForSelector('.queued');
    await done(page, 2);
    assert.ok((await log(page)).includes('And that as well.'));
    assert.equal(await page.locator('.queued').count(), 0);
    await page.context().close();
  },
  async stop() {
    const page = await open();
    await say(page, 'sleep');
    await page.click('[data-answer=allow]');
    await page.waitForSelector('.card[data-state=running]');
    await page.click('.stop');
    await done(page);
    assert.ok((await log(page)).includes('Stopped'));
    await page.waitForSelector('.send:visible');
    await page.context().close();
  },
  async reload_in_the_middle() {
    const page = await open();
    await say(page, 'slow');
    await has(page, 'word2');
    await page.reload();
    await has(page, 'word2');
    await done(page);
    const text = await log(page);
    assert.ok(text.includes(LONG));
    assert.equal(text.split('word59').length, 2, 'nothing is doubled');
    await page.context().close();
  },
  async server_restart_in_the_middle() {
    const page = await open();
    page.expectsTrouble = true; // the browser itself reports connections that are refused
    await say(page, 'look around');
    await page.waitForSelector('[data-answer=allow]');
    await server.stop('SIGKILL');
    await page.waitForFunction(() => document.querySelector('.status').innerText.includes('no connection'));
    await shot(page, 'no-connection');
    await server.start();
    await page.waitForFunction(() => !document.querySelector('.status').innerText.includes('no connection'));
    await page.click('[data-answer=allow]');
    await has(page, 'I have looked.');
    await done(page);
    assert.equal(await page.locator('.card').count(), 1);
    await page.context().close();
  },
  async a_run_goes_on_after_a_restart() {
    const page = await open();
    page.expectsTrouble = true;
    await say(page, 'slow');
    await has(page, 'word2');
    await server.stop('SIGTERM');
    await server.start();
    await has(page, LONG);
    await page.waitForSelector('.runend.completed');
    await page.context().close();
  },
  async second_viewer() {
    const one = await open();
    await say(one, 'look around');
    await one.waitForSelector('[data-answer=allow]');
    const two = await open();
    await two.goto(one.url());
    await two.click('[data-answer=allow]');
    await has(one, 'I have looked.');
    await has(two, 'I have looked.');
    assert.equal(await one.locator('[data-answer]').count(), 0);
    await one.context().close();
    await two.context().close();
  },
  async phone() {
    const page = await open({viewport: {width: 390, height: 780}, isMobile: true, hasTouch: true, colorScheme: 'dark'});
    await say(page, 'paint');
    await done(page);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.equal(wide, false, 'nothing sticks out');
    await shot(page, 'phone');
    await page.tap('header .icon >> nth=0');
    await page.waitForSelector('.side.open');
    await shot(page, 'phone-sessions');
    await page.tap('.sessions li:last-child a');
    await page.waitForFunction(() => !document.querySelector('.side').classList.contains('open'));
    await page.context().close();
  },
  async keyboard_only() {
    const page = await open();
    await page.waitForFunction(() => document.activeElement.tagName === 'TEXTAREA');
    await page.keyboard.type('look around');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[data-answer=allow]');
    await page.keyboard.press('Tab');
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press('a');
    await has(page, 'I have looked.');
    await page.keyboard.press('d');
    await page.waitForFunction(() => document.querySelector('.panel').hidden === (innerWidth >= 1200));
    await page.keyboard.press('n');
    await page.waitForFunction(() => document.activeElement.tagName === 'TEXTAREA');
    assert.equal(await page.innerText('header h1'), 'New session');
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press('/');
    await page.keyboard.type('look');
    await page.keyboard.press('Tab');
    assert.ok(await page.evaluate(() => Boolean(document.activeElement.closest('.sessions'))));
    await page.keyboard.press('Enter');
    await has(page, 'I have looked.');
    await page.context().close();
  },
  async markdown_is_harmless() {
    const page = await open();
    await say(page, 'paint');
    await done(page);
    const md = page.locator('.answer .md').first();
    assert.equal(await md.locator('h2').innerText(), 'Title');
    assert.equal(await md.locator('strong').innerText(), 'bold');
    assert.equal(await md.locator('b, img, script').count(), 0);
    assert.ok((await md.innerText()).includes('<b>no tag</b>'));
    assert.equal(await md.locator('table td').count(), 2);
    assert.deepEqual(await md.locator('a').evaluateAll((all) => all.map((a) => [a.protocol, a.rel])),
      [['https:', 'noreferrer noopener nofollow'], ['https:', 'noreferrer noopener nofollow']]);
    await page.context().close();
  },
  async diff_and_details() {
    const page = await open();
    await say(page, 'write');
    await page.waitForSelector('.diff .ins');
    assert.equal(await page.locator('.diff .ins').count(), 2);
    await page.click('[data-answer=allow]');
    await done(page);
    const id = decodeURIComponent(page.url().split('/s/')[1]);
    await server.api('PATCH', `/api/sessions/${id}/state`, {delta: {colour: 'green'}});
    await page.waitForSelector('.waterfall .bar.tool');
    await page.click('[data-tab=state]');
    await page.waitForFunction(() => document.querySelector('.panel-body').innerText.includes('green'));
    await page.click('[data-tab=tree]');
    await page.waitForSelector('.entry.active');
    await page.click('[data-tab=usage]');
    await page.waitForSelector('.numbers');
    await shot(page, 'details');
    await page.context().close();
  },
  async files() {
    const page = await open();
    await page.setInputFiles('input[type=file]', [{name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('the text of a')}]);
    await page.waitForSelector('.chip');
    await say(page, 'read this');
    await done(page);
    assert.ok((await log(page)).includes('the text of a'));
    await page.context().close();
  },
  async wrong_token() {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(server.url);
    await page.fill('input[type=password]', 'wrong-wrong-wrong-wrong');
    await page.click('button.primary');
    await page.waitForFunction(() => document.body.innerText.includes('not valid'));
    await shot(page, 'sign-in');
    await page.fill('input[type=password]', TOKEN);
    await page.click('button.primary');
    await page.waitForSelector('textarea');
    await context.close();
  },
  async search() {
    const page = await open();
    await say(page, 'the word is kumquat');
    await done(page);
    await page.fill('input[type=search]', 'said kumquat');
    await page.waitForSelector('.sessions .snippet');
    assert.equal(await page.locator('.sessions [data-id]').count(), 1);
    await page.fill('input[type=search]', '');
    await page.waitForFunction(() => document.querySelectorAll('.sessions [data-id]').length > 1);
    await page.context().close();
  },
  async delete_a_session() {
    const page = await open();
    await say(page, 'to be deleted');
    await done(page);
    await page.click('.menu summary');
    await page.click('.menu-list >> text=Delete this session');
    await page.click('dialog >> text=Cancel');
    await page.click('.menu summary');
    await page.click('.menu-list >> text=Delete this session');
    await page.click('dialog .danger');
    await page.waitForFunction(() => document.querySelector('header h1').innerText === 'New session');
    await page.waitForFunction(() => !document.querySelector('.sessions').innerText.includes('to be deleted'));
    await page.context().close();
  },
};

let failed = 0;
let passed = 0;
await server.start();
browser = await chromium.launch({executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu']});
for (const [name, test] of Object.entries(tests)) {
  if (only.length && !only.includes(name)) continue;
  complaints = [];
  try {
    await test();
    assert.deepEqual(complaints, []);
    passed++;
    console.log(`ok ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAILED ${name}\n${error.stack}\n${complaints.join('\n')}`);
    for (const context of browser.contexts()) {
      for (const page of context.pages()) await shot(page, `failed-${name}`).catch(() => {});
      await context.close();
    }
    if (server.child.exitCode !== null || server.child.signalCode) await server.start();
  }
}
await browser.close();
await server.stop();
server.remove();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
