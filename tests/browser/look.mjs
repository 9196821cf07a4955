// look.mjs - looking at sessions: lists, details, branches, sub-agents, workflows, a phone.
import fs from 'node:fs';
import {assert, done, has, idOf, log, menu, open, rig, say, shot} from './rig.mjs';

export const look = {
  async phone() {
    const page = await open({viewport: {width: 390, height: 780}, isMobile: true, hasTouch: true, colorScheme: 'dark'});
    await say(page, 'paint');
    await done(page);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    assert.equal(wide, false, 'nothing sticks out');
    assert.ok(await page.evaluate(() => document.querySelector('.runend b').getClientRects().length === 1 && document.querySelector('.runend b').offsetHeight < 30), 'how it ended is one word');
    await shot(page, 'phone');
    await page.tap('header .icon >> nth=0');
    await page.waitForSelector('.side.open');
    await shot(page, 'phone-sessions');
    await page.tap('.sessions li:last-child a');
    await page.waitForFunction(() => !document.querySelector('.side').classList.contains('open'));
    await page.context().close();
  },
  async diff_and_details() {
    const page = await open();
    await say(page, 'write');
    await page.waitForSelector('.diff .ins');
    assert.equal(await page.locator('.diff .ins').count(), 2);
    await page.click('[data-answer=allow]');
    await done(page);
    const id = idOf(page);
    await rig.server.api('PATCH', `/api/sessions/${id}/state`, {delta: {colour: 'green'}});
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
  async search() {
    const page = await open();
    await say(page, 'the word is kumquat');
    await done(page);
    await page.fill('input[type=search]', 'said kumquat');
    await page.waitForSelector('.sessions .snippet');
    assert.equal(await page.locator('.sessions [data-id]').count(), 1);
    await page.fill('input[type=search]', '');
    await page.waitForFunction(() => document.querySelectorAll('.sessions [data-id]').length > 1);
    await page.fill('input[type=search]', 'said kumquat');
    await page.waitForSelector('.sessions .snippet');
    await page.press('input[type=search]', 'Enter');
    await page.waitForSelector('article.found >> text=You said: the word is kumquat');
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
  async a_write_is_a_diff_to_what_was_read() {
    const page = await open();
    await say(page, 'change the file');
    await page.waitForSelector('[data-answer=allow]');
    assert.deepEqual(await page.locator('.diff .ins .line, .diff .del .line').allInnerTexts(), ['line 15', 'line fifteen']);
    assert.equal(await page.locator('.diff .same').count(), 6, 'with three lines around');
    await page.click('[data-answer=allow]');
    await done(page);
    await shot(page, 'diff');
    await page.context().close();
  },
  async artifacts_are_saved() {
    const page = await open();
    await say(page, 'hello');
    await done(page);
    await fetch(new URL(`/api/sessions/${idOf(page)}/artifacts/plots%2Fone.txt`, rig.server.url), {method: 'PUT', body: 'a plot', headers: {authorization: `Bearer ${rig.server.token}`, 'content-type': 'text/plain'}});
    await page.click('[data-tab=state]');
    const [saved] = await Promise.all([page.waitForEvent('download'), page.click('.panel-body >> text=Save')]);
    assert.equal(saved.suggestedFilename(), 'one.txt');
    assert.equal(fs.readFileSync(await saved.path(), 'utf8'), 'a plot');
    await page.context().close();
  },
  async helpers_live() {
    const page = await open();
    await say(page, 'two helpers');
    await page.waitForSelector('[data-answer=allow]');
    await page.fill('.approval input', 'half a rea');
    await page.waitForFunction(() => /busy word/.test(document.querySelectorAll('.strip')[1]?.innerText || ''));
    await page.waitForFunction(() => document.querySelector('.approval .rule').innerText.startsWith('Asked because of permission mode ask'));
    assert.deepEqual(await page.locator('.log .badge').allInnerTexts(), ['waits for you', 'running', 'waits for you']);
    const before = await page.locator('.log .strip >> nth=1').innerText();
    await page.waitForFunction((was) => document.querySelectorAll('.log .strip')[1].innerText !== was, before);
    assert.equal(await page.inputValue('.approval input'), 'half a rea', 'what somebody types stays');
    assert.ok(await page.evaluate(() => document.activeElement.closest('.approval') !== null), 'and so does the focus');
    await page.click('[data-tab=agents]');
    await page.waitForFunction(() => document.querySelectorAll('.children li').length === 2);
    assert.ok(await page.evaluate(() => document.querySelector('.tabs').scrollWidth <= document.querySelector('.tabs').clientWidth), 'all tabs are seen');
    assert.ok(await page.evaluate(() => [...document.querySelectorAll('.children .facts')].every((n) => n.scrollWidth <= n.clientWidth)), 'and all facts');
    await shot(page, 'helpers');
    await page.click('[data-answer=allow]');
    await page.click('.log .strip >> nth=-1 >> text=Stop');
    await has(page, 'Both are back.');
    await done(page);
    await page.waitForFunction(() => [...document.querySelectorAll('.children .badge')].map((n) => n.innerText).sort().join() === 'completed,stopped');
    await page.click('.children li >> nth=1 >> text=Open');
    await has(page, 'I was answered.');
    await page.click('.crumb');
    await has(page, 'Both are back.');
    await page.fill('input[type=search]', 'I was answered');
    await page.waitForSelector('.sessions .snippet');
    assert.equal(await page.innerText('.sessions li[data-id] .meta'), 'sub-agent', 'how long it is was not told');
    await page.fill('input[type=search]', '');
    await page.waitForFunction(() => !document.querySelector('.sessions').innerText.includes('sub-agent'));
    await page.context().close();
  },
  async a_workflow() {
    const page = await open();
    await page.waitForFunction(() => [...document.querySelectorAll('.settings option')].some((o) => o.value === 'panel'));
    await page.locator('.settings label', {hasText: 'Agent'}).locator('select').selectOption('panel');
    await say(page, 'look at it');
    await has(page, 'Fast and safe.');
    await done(page);
    assert.deepEqual(await page.locator('.flow li').evaluateAll((all) => all.map((n) => `${n.className} ${n.innerText.split('\n')[0].split(' ')[0]}`)),
      ['completed d0 panel', 'completed d1 readers', 'completed d2 speed', 'completed d2 safety', 'completed d1 summary']);
    await page.waitForFunction((names) => [...document.querySelectorAll('.waterfall .name')].map((n) => n.firstChild.textContent).join() === names, // each under whom it belongs to
      'Run,panel,readers,speed,script.json,safety,script.json,read,script.json,summary,script.json');
    await page.click('.waterfall .tool button');
    await page.waitForSelector('article.found');
    await shot(page, 'workflow');
    await page.context().close();
  },
  async rename_copy_and_settings() {
    const page = await open();
    await say(page, 'call me something');
    await done(page);
    await menu(page, 'Rename');
    await page.fill('dialog input', 'Something');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelector('header h1').innerText === 'Something');
    await page.waitForFunction(() => document.querySelector('.sessions a[aria-current] .text').innerText === 'Something');
    await page.click('[data-tab=usage]');
    await page.selectOption('[aria-label=thinking]', 'high');
    const id = idOf(page);
    await page.waitForFunction(() => document.querySelector('[aria-label=thinking]').value === 'high');
    await menu(page, 'Copy this session');
    await page.waitForFunction((was) => !location.hash.includes(was), id);
    await has(page, 'You said: call me something');
    await page.context().close();
  },
  async pause_and_go_on() {
    const page = await open();
    await say(page, 'steer me');
    await page.click('[data-answer=allow]');
    await page.waitForSelector('.card[data-state=running]');
    await menu(page, 'Pause the run');
    await page.waitForFunction(() => document.querySelector('.status').innerText === 'pausing');
    assert.equal(await page.locator('.pause:visible').count(), 0, 'it does not stand yet');
    await page.waitForSelector('.card[data-state=done]');
    await page.waitForFunction(() => document.querySelector('.status').innerText === 'paused');
    await page.waitForFunction(() => document.querySelector('.sessions a[aria-current] .time').innerText === 'paused');
    await shot(page, 'paused');
    await page.click('.pause >> text=Continue');
    await done(page);
    assert.equal(await page.locator('.pause:visible').count(), 0);
    assert.match(await page.innerText('.runend'), /at work, .* in all/);
    await page.waitForFunction(() => /at work, .* in all/.test(document.querySelector('.panel-body select').innerText));
    await page.context().close();
  },
  async a_folder_that_is_not_allowed() {
    const page = await open();
    page.expectsTrouble = true; // the browser reports the 403
    const folder = page.locator('.settings label', {hasText: 'Folder'}).locator('input');
    await folder.fill('/etc');
    await say(page, 'the first try');
    await page.waitForSelector('.toast');
    assert.match(await page.innerText('.toast'), /^\/etc is not beneath the folders that this server works in: [^\n]*$/);
    const clear = await page.evaluate(() => document.querySelector('.toast').getBoundingClientRect().top >= document.querySelector('.scroll').getBoundingClientRect().bottom);
    assert.ok(clear, 'it lies over nothing');
    await folder.fill('');
    await page.press('textarea', 'Enter');
    await done(page);
    assert.equal(await page.locator('.toast').count(), 0);
    await page.context().close();
  },
  async a_session_that_is_not_there() {
    const page = await open();
    page.expectsTrouble = true; // the browser reports the 404
    await page.goto(`${rig.server.url}#/s/nowhere`);
    await page.waitForFunction(() => document.querySelector('.welcome').innerText.includes('does not exist'));
    assert.equal(await page.locator('.composer:visible, .menu:visible').count(), 0, 'nothing can be said there');
    await shot(page, 'gone');
    await page.click('.welcome >> text=New session');
    await page.waitForFunction(() => document.querySelector('.welcome').innerText.includes('What shall be done?'));
    await page.context().close();
  },
  async keys_and_tabs() {
    const page = await open();
    await say(page, 'keys one');
    await done(page);
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press('?');
    await page.waitForSelector('dialog[open] .keys');
    await page.keyboard.press('Escape');
    await page.keyboard.press('4');
    await page.waitForSelector('[data-tab=tree][aria-selected=true]');
    const was = page.url();
    await page.keyboard.press('j');
    await page.waitForFunction((url) => location.href !== url, was);
    await page.keyboard.press('k');
    await page.waitForFunction((url) => location.href === url, was);
    await page.context().close();
  },
};
