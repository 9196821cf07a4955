// talk.mjs - talking with a session: prompts, approvals, steering, stopping, and everything that must not be lost.
import {spawn} from 'node:child_process';
import {TOKEN} from './server.mjs';
import {assert, done, has, log, open, rig, say, shot} from './rig.mjs';
import {LONG} from './script.mjs';

export const talk = {
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
    await page.waitForSelector('.stop:visible');
    assert.equal(await page.locator('.steer:visible, .later:visible').count(), 0, 'there is nothing to tell it yet');
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
    await rig.server.stop('SIGKILL');
    await page.waitForFunction(() => document.querySelector('.status').innerText.includes('no connection'));
    await shot(page, 'no-connection');
    await rig.server.start();
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
    await rig.server.stop('SIGTERM');
    await rig.server.start();
    await has(page, LONG);
    await page.waitForSelector('.runend.completed');
    await page.context().close();
  },
  async a_run_whose_program_died_is_continued() {
    const {server} = rig;
    const env = {...process.env, HOB_HOME: server.home, HOB_MODEL: `scripted:${server.script}`};
    const child = spawn(server.program, ['-p', '--session-id', 'died', 'slow'], {cwd: server.work, env, stdio: 'ignore'});
    const gone = new Promise((resolve) => child.on('exit', resolve));
    while (((await server.api('GET', '/api/sessions/died')).last_seq || 0) < 4) await new Promise((resolve) => setTimeout(resolve, 20));
    child.kill('SIGKILL');
    await gone;
    const page = await open({}, {hash: '#/s/died'});
    await page.waitForFunction(() => document.querySelector('.status')?.innerText === 'unfinished');
    assert.equal(await page.locator('.stop:visible, .steer:visible').count(), 0, 'nothing works there');
    await shot(page, 'died');
    await page.click('.trouble >> text=Continue');
    await has(page, LONG);
    await page.waitForSelector('.runend.completed');
    assert.equal(await page.locator('.trouble:not([hidden])').count(), 0);
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
  async files() {
    const page = await open();
    const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mP8z8BQz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC', 'base64');
    await page.setInputFiles('input[type=file]', [{name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('the text of a')},
      {name: 'dot.png', mimeType: 'image/png', buffer: png}, {name: 'b.txt', mimeType: 'text/plain', buffer: Buffer.from('the text of b')}]);
    await page.waitForFunction(() => document.querySelectorAll('.chip').length === 3);
    assert.equal(await page.locator('.chip img').count(), 1);
    await page.click('[aria-label="Remove b.txt"]');
    await say(page, 'read this');
    await done(page);
    assert.ok((await log(page)).includes('the text of a'));
    assert.ok(!(await log(page)).includes('the text of b'));
    assert.equal(await page.locator('.bubble .picture img').evaluate((n) => n.naturalWidth), 10);
    await page.click('.bubble .picture');
    await page.waitForSelector('dialog[open] img');
    await page.keyboard.press('Escape');
    await page.setInputFiles('input[type=file]', [{name: 'c.bin', mimeType: 'application/octet-stream', buffer: Buffer.from([0xff, 0xfe, 0])}]);
    await page.waitForFunction(() => document.querySelector('.toasts').innerText.includes('neither a picture'));
    await page.context().close();
  },
  async files_while_it_works() {
    const page = await open();
    await say(page, 'slow');
    await has(page, 'word1');
    await page.setInputFiles('input[type=file]', [{name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('turn left')}]);
    await page.waitForSelector('.chip');
    await page.press('textarea', 'Enter');
    await has(page, 'I turn left.');
    await page.context().close();
  },
  async words_that_were_not_delivered_come_back() {
    const page = await open();
    await say(page, 'slow');
    await has(page, 'word1');
    await page.fill('textarea', 'afterwards');
    await page.press('textarea', 'Alt+Enter');
    await page.waitForSelector('.queued');
    await page.click('.stop');
    await page.click('text=Put it back');
    assert.equal(await page.inputValue('textarea'), 'afterwards');
    await page.context().close();
  },
  async what_stands_is_not_made_anew() {
    const page = await open();
    await say(page, 'paragraphs');
    await has(page, 'word5');
    const first = await page.locator('.answer .md p').first().elementHandle();
    const answer = await page.locator('.answer').first().elementHandle();
    await page.click('.fold summary');
    await done(page);
    assert.ok(await first.evaluate((n) => n.isConnected && n.textContent === 'First one.'), 'a paragraph that is whole stays the same node');
    assert.ok(await answer.evaluate((n) => n.isConnected && n.querySelector('.fold').open), 'and what was opened stays open');
    await page.context().close();
  },
  async a_failure_says_what_to_do() {
    const page = await open();
    await say(page, 'no key');
    await page.waitForSelector('.runend.trouble');
    const words = await page.innerText('.runend.trouble');
    assert.ok(words.includes('invalid x-api-key') && words.includes('ANTHROPIC_API_KEY'), words);
    assert.equal(await page.locator('.remark:not([hidden])').count(), 0, 'it is said once');
    await shot(page, 'failure');
    await page.click('.trouble button');
    await page.waitForFunction(() => document.querySelectorAll('.runend').length === 2 && document.querySelectorAll('.runend:not([hidden])').length === 1);
    assert.equal(await page.locator('.user:not([hidden])').count(), 1, 'the same words once');
    await page.context().close();
  },
  async a_message_is_changed_on_a_branch() {
    const page = await open();
    await say(page, 'the first way');
    await done(page);
    await page.hover('.user');
    await page.click('[aria-label="Change it and ask again"]');
    assert.equal(await page.inputValue('textarea'), 'the first way');
    await page.waitForSelector('.editing:visible');
    await say(page, 'the second way');
    await has(page, 'You said: the second way');
    assert.ok(!(await log(page)).includes('the first way'));
    await page.click('[data-tab=tree]');
    await page.waitForFunction(() => document.querySelectorAll('.entry').length === 4);
    assert.equal(await page.innerText('.parted'), '2 versions');
    assert.equal(await page.locator('.parted + .tree > li').count(), 2);
    await page.hover('.entry >> nth=1');
    await page.click('.entry >> nth=1 >> button');
    await has(page, 'You said: the first way');
    await page.waitForFunction(() => !document.querySelector('.log').innerText.includes('the second way'));
    await shot(page, 'branches');
    await page.context().close();
  },
  async commands_are_offered() {
    const page = await open();
    await say(page, 'hello');
    await done(page);
    await page.type('textarea', '/re');
    await page.waitForSelector('.suggest:visible');
    await page.keyboard.press('Tab');
    assert.equal(await page.inputValue('textarea'), '/review ');
    await page.type('textarea', 'it');
    await page.keyboard.press('Enter');
    await done(page, 2);
    await page.context().close();
  },
};
