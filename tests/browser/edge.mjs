// edge.mjs - what is hostile, large, forbidden or not to be seen.
import {Server, TOKEN} from './server.mjs';
import {assert, done, has, log, open, poorContrast, rig, say, shot} from './rig.mjs';

export const edge = {
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
  async no_answer_takes_the_page_away() {
    const page = await open();
    await say(page, 'stretch');
    await done(page);
    assert.equal(await page.locator('.answer .md strong').innerText(), 'The end.');
    await page.context().close();
  },
  async wrong_token() {
    const context = await rig.browser.newContext();
    const page = await context.newPage();
    await page.goto(rig.server.url);
    await page.fill('input[type=password]', 'wrong-wrong-wrong-wrong');
    await page.click('button.primary');
    await page.waitForFunction(() => document.body.innerText.includes('not valid'));
    assert.ok((await page.textContent('.signin')).includes('server-token'));
    await shot(page, 'sign-in');
    await page.fill('input[type=password]', TOKEN);
    await page.click('button.primary');
    await page.waitForSelector('textarea');
    await context.close();
  },
  async output_of_programs() {
    const page = await open();
    await say(page, 'colours');
    await page.click('[data-answer=allow]');
    await done(page);
    await page.click('.card summary');
    const output = page.locator('pre.output');
    assert.equal(await output.locator('.a1').innerText(), 'red');
    let text = await output.innerText();
    assert.ok(text.includes('red plain\n100%\nend') && !/[\u001b\u0007]/.test(text), 'what steers a terminal is gone');
    assert.ok(text.split('\n').length < 500, 'the middle waits');
    await page.click('pre.output .gap');
    text = await output.innerText();
    assert.ok(text.split('\n').length > 9000 || text.includes('left out'), 'and comes when asked for');
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth || document.querySelector('.scroll').scrollWidth > document.querySelector('.scroll').clientWidth), false, 'nothing sticks out');
    await shot(page, 'hostile');
    await page.context().close();
  },
  async nothing_is_disguised_in_a_question() {
    const page = await open();
    await say(page, 'disguise');
    await page.waitForSelector('[data-answer=deny]');
    assert.equal(await page.innerText('.command'), 'echo safe ⟨U+202E⟩ tac ⟨U+2066⟩');
    const rule = await page.innerText('.approval');
    assert.ok(rule.includes('permission mode ask'), rule);
    await page.click('[data-answer=deny]');
    await done(page);
    await page.context().close();
  },
  async a_long_session() {
    const page = await open();
    await say(page, 'many steps');
    await page.waitForFunction(() => document.querySelector('.runend'), null, {timeout: 60000});
    await page.reload();
    await has(page, 'All steps are done.');
    const text = () => page.evaluate(() => [...document.querySelectorAll('.log .md')].map((n) => n.textContent));
    assert.ok(!(await text()).includes('Step 1.'), 'only its newer part is taken at first');
    const seen = await page.evaluate(async () => {
      document.querySelector('.scroll').scrollTop = 400; // near, but not so near that more is loaded
      for (let i = 0; i < 5; i++) await new Promise(requestAnimationFrame);
      document.querySelector('.scroll').scrollTop = 100;
      const first = document.querySelector('.log article:not([hidden])');
      return [first.dataset.key, Math.round(first.getBoundingClientRect().top)];
    });
    await page.waitForFunction(() => [...document.querySelectorAll('.log .md')].some((n) => n.textContent === 'Step 1.'));
    const now = await page.evaluate((key) => Math.round(document.querySelector(`[data-key="${key}"]`).getBoundingClientRect().top), seen[0]);
    assert.ok(Math.abs(now - seen[1]) < 40, `what is in view does not move: ${seen[1]} ${now}`);
    assert.deepEqual((await text()).filter((t) => t.startsWith('Step')), Array.from({length: 240}, (_, i) => `Step ${i + 1}.`), 'each once, in order');
    await page.context().close();
  },
  async enough_contrast() {
    for (const colorScheme of ['light', 'dark']) {
      const page = await open({colorScheme, reducedMotion: 'reduce'});
      assert.deepEqual(await poorContrast(page), [], `${colorScheme}, before a session`);
      await say(page, 'paint');
      await done(page);
      await say(page, 'look around');
      await page.waitForSelector('[data-answer=allow]');
      for (const tab of ['timeline', 'agents', 'state', 'tree', 'usage']) {
        await page.click(`[data-tab=${tab}]`);
        await page.waitForTimeout(50);
        assert.deepEqual(await poorContrast(page), [], `${colorScheme}, ${tab}`);
      }
      await page.click('[data-answer=deny]');
      await say(page, 'no key');
      await page.waitForSelector('.runend.trouble');
      assert.deepEqual(await poorContrast(page), [], `${colorScheme}, a failure`);
      await shot(page, `contrast-${colorScheme}`);
      await page.context().close();
    }
  },
  async for_those_who_hear_it() {
    const page = await open({reducedMotion: 'reduce'});
    assert.equal(await page.getAttribute('.log', 'aria-live'), 'off', 'not every word of a stream is read out');
    await say(page, 'look around');
    await page.waitForFunction(() => document.querySelector('.unseen').textContent.includes('bash waits for your answer: echo seen it'));
    await page.click('[data-answer=allow]');
    await page.waitForFunction(() => document.querySelector('.unseen').textContent === 'Done.');
    const nameless = await page.evaluate(() => [...document.querySelectorAll('button, a, input, select, textarea, summary')]
      .filter((n) => n.checkVisibility() && !(n.getAttribute('aria-label') || n.textContent.trim() || n.title || n.labels?.length)).map((n) => n.outerHTML));
    assert.deepEqual(nameless, [], 'everything that can be used has a name');
    assert.deepEqual(await page.evaluate(() => document.getAnimations().map((a) => a.animationName || a.transitionProperty)), [], 'and nothing moves for those who do not want it');
    const order = ['NAV'];
    await page.focus('nav button');
    for (let i = 0; i < 120 && order[order.length - 1] !== 'ASIDE'; i++) {
      await page.keyboard.press('Tab');
      order.push(await page.evaluate(() => document.activeElement.closest('nav, header, .log, .composer, aside')?.tagName + (document.activeElement.closest('.composer') ? '.composer' : '')));
    }
    assert.deepEqual(order.filter((place, i) => place !== order[i - 1]), ['NAV', 'HEADER', 'DIV', 'DIV.composer', 'ASIDE'], 'the focus goes as the eye does');
    await page.context().close();
  },
  async a_token_that_may_only_look() {
    const server = new Server(rig.server.program, {otherwise: [{tool: 'bash', args: {command: 'true'}}]});
    const row = (name, rights) => ({name, token: `a-token-for-${name}-${name}`, tenant: 'one', principal: 'all', rights});
    server.args = ['--token-file', server.put('tokens.json', JSON.stringify({tokens: [row('working', ['read', 'run', 'approve']), row('looking', ['read'])]}), server.dir)];
    await server.start();
    server.token = 'a-token-for-working-working';
    const {id} = await server.api('POST', '/api/sessions', {title: 'to be looked at'});
    await server.api('POST', `/api/sessions/${id}/prompt`, {text: 'go'});
    const page = await open({}, {server, token: 'a-token-for-looking-looking', hash: `#/s/${id}`});
    await page.waitForSelector('.approval');
    assert.ok((await page.innerText('.approval')).includes('may not give it'));
    assert.equal(await page.locator('[data-answer], .stop:visible, .send:visible').count(), 0);
    assert.equal(await page.isDisabled('textarea'), true);
    await shot(page, 'may-only-look');
    await page.click('[aria-label="Sign out"]');
    await page.click('.signin summary');
    const words = await page.innerText('.signin');
    assert.ok(words.includes('--token-file') && !words.includes('server-token'), words);
    await page.context().close();
    await server.stop();
    server.remove();
  },
};
