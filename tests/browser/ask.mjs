// ask.mjs - what the model asks the user: choices as buttons, forms made from the schema, with the mouse and with keys alone.
import {spawn} from 'node:child_process';
import {assert, done, has, open, poorContrast, rig, say, shot} from './rig.mjs';

export const ask = {
  async a_choice_is_a_button() {
    const page = await open();
    await say(page, 'pick one');
    await page.waitForSelector('.question button:text-is("blue")');
    assert.equal(await page.getAttribute('.question', 'aria-label'), 'Which⟨U+001B⟩ colour?'); // no control character as it is
    await shot(page, 'question-choice');
    await page.click('.question button:text-is("blue")');
    await has(page, 'Told: blue.');
    await done(page);
    await page.context().close();
  },
  async a_form_says_what_is_wrong_and_takes_what_fits() {
    const page = await open();
    await say(page, 'fill in');
    await page.waitForSelector('.question .fields');
    await page.click('.question button[type=submit]'); // the browser itself misses what is required
    assert.equal(await page.isVisible('.question .problem'), false);
    await page.fill('.question input[type=text]', 'Eva');
    await page.fill('.question input[type=number]', '3');
    await page.check('.question .field:has-text("Ready") input[type=checkbox]');
    await page.check('.question label:has-text("Red") input');
    await page.check('.question label:has-text("small") input');
    await page.check('.question label:has-text("large") input');
    await page.fill('.question textarea', '{oops');
    await page.click('.question button[type=submit]');
    await page.waitForSelector('.question .problem:has-text("this is not JSON")');
    await page.fill('.question textarea', '[1]');
    assert.deepEqual(await poorContrast(page), []);
    await shot(page, 'question-form');
    page.expectsTrouble = true; // 400
    await page.click('.question button[type=submit]');
    await page.waitForSelector('.question .problem:has-text("rest must have at least 2 items")');
    page.expectsTrouble = false;
    await page.fill('.question textarea', '[1, 2]');
    await page.click('.question button[type=submit]');
    await has(page, 'Told: {"name":"Eva","count":3,"ready":true,"colour":"r","sizes":["small","large"],"rest":[1,2]}.');
    await done(page);
    await page.context().close();
  },
  async escape_leads_to_the_question_before_it_stops() {
    const page = await open();
    await say(page, 'look around');
    await page.waitForSelector('[data-answer=allow]');
    assert.equal(await page.locator('.approval kbd').first().isVisible(), false, 'in the field it would be typed');
    await page.press('textarea', 'Escape');
    await page.waitForFunction(() => document.activeElement.dataset.answer === 'allow');
    await page.locator('.approval kbd').first().waitFor({state: 'visible'});
    await page.keyboard.press('x');
    await has(page, 'Then I do not look.');
    await done(page);
    await page.context().close();
  },
  async a_question_that_nobody_has_open_waits_all_the_same() {
    const {server} = rig;
    const env = {...process.env, HOB_HOME: server.home, HOB_MODEL: `scripted:${server.script}`};
    const child = spawn(server.program, ['--input-format', 'stream-json', '--session-id', 'left'], {cwd: server.work, env, stdio: ['pipe', 'ignore', 'ignore']});
    child.stdin.end('{"type":"prompt","text":"look around"}\n');
    assert.equal(await new Promise((resolve) => child.on('exit', resolve)), 5); // it asks, and the program is gone
    const page = await open({}, {hash: '#/s/left'});
    await page.waitForFunction(() => document.querySelector('.status')?.innerText === 'waits for you');
    assert.equal(await page.locator('.sessions li[data-id=left][data-state=parked]').count(), 1);
    assert.equal(await page.locator('.trouble:visible').count(), 0);
    await page.click('[data-answer=allow]');
    await has(page, 'I have looked.');
    await done(page);
    await page.context().close();
  },
  async the_permission_mode_is_chosen_in_the_middle() {
    const page = await open();
    await page.waitForFunction(() => /Default: script\.json/.test(document.body.textContent));
    assert.match(await page.textContent('body'), /Default: ask/);
    await say(page, 'write it down');
    await page.waitForSelector('[data-answer=allow]');
    await page.click('[data-answer=deny]');
    await done(page);
    await page.click('.composer .info'); // what is in force leads to where it is chosen
    await page.selectOption('select[aria-label=permission_mode]', 'accept-edits');
    await page.waitForFunction(() => document.querySelector('.composer .info').innerText.includes('accept-edits'));
    await shot(page, 'mode');
    await say(page, 'write it down');
    await done(page, 2);
    assert.equal(await page.locator('[data-answer]').count(), 0);
    await page.context().close();
  },
  async declined_with_a_reason() {
    const page = await open();
    await say(page, 'pick one');
    await page.fill('.question input[aria-label=Reason]', 'ask Bob');
    await page.click('.question [data-answer=deny]');
    await has(page, 'Told: the user did not answer: ask Bob.');
    await done(page);
    await page.context().close();
  },
  async keys_alone_answer_also_after_a_reload() {
    const page = await open({viewport: {width: 390, height: 780}});
    await say(page, 'your words');
    await page.waitForSelector('.question textarea');
    await page.reload();
    await page.waitForSelector('.question textarea');
    await page.focus('.question textarea');
    await page.keyboard.type('first line');
    await page.keyboard.press('Enter');
    await page.keyboard.type('second line');
    await shot(page, 'question-phone');
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Answer');
    await page.keyboard.press('Enter');
    await has(page, 'Told: first line');
    await done(page);
    await page.context().close();
  },
  async another_viewer_answers() {
    const page = await open();
    await say(page, 'pick one');
    await page.waitForSelector('.question');
    const other = await open({}, {hash: page.url().slice(page.url().indexOf('#'))});
    await other.click('.question button:text-is("red")');
    await page.waitForFunction(() => !document.querySelector('.question'));
    await has(page, 'Told: red.');
    assert.ok(rig.server.running);
    await other.context().close();
    await page.context().close();
  },
};
