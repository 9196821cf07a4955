// craft.mjs - how it looks and feels: what is said once, what stays quiet, what keeps its place.
import {assert, done, open, poorContrast, say, shot} from './rig.mjs';

export const craft = {
  async the_field_comes_first_where_nothing_is_yet() {
    for (const width of [1280, 390]) {
      const page = await open({viewport: {width, height: 800}});
      const top = (what) => page.evaluate((w) => Math.round(document.querySelector(w).getBoundingClientRect().top), what);
      await page.waitForSelector('.settings:visible');
      const order = [await top('.welcome h2'), await top('.compose'), await top('.settings')];
      assert.deepEqual([...order].sort((a, b) => a - b), width > 760 ? order : [order[0], order[2], order[1]], 'on a phone it stays near the thumb');
      assert.equal(await page.locator('.under').evaluate((n) => n.scrollHeight > n.clientHeight), false);
      await say(page, 'hello');
      await done(page);
      assert.equal(await page.isVisible('.under'), false);
      await page.context().close();
    }
  },
  async tab_stops_once_at_the_list() {
    const page = await open();
    await say(page, 'one more');
    await done(page);
    await say(page, 'and again');
    await done(page, 2);
    await page.click('text=New session');
    await page.waitForFunction(() => document.querySelector('header h1').innerText === 'New session');
    await page.focus('input[type=search]');
    await page.keyboard.press('Tab');
    assert.ok(await page.evaluate(() => Boolean(document.activeElement.closest('.sessions'))));
    await page.keyboard.press('ArrowDown');
    assert.equal(await page.evaluate(() => [...document.querySelectorAll('.sessions a')].indexOf(document.activeElement)), 1);
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => Boolean(document.activeElement.closest('.sessions'))), false);
    await page.keyboard.press('Shift+Tab');
    assert.equal(await page.evaluate(() => [...document.querySelectorAll('.sessions a')].indexOf(document.activeElement)), 1, 'it is where it was');
    await page.context().close();
  },
  async a_diff_shows_what_changed_in_a_line() {
    for (const colorScheme of ['light', 'dark']) {
      const page = await open({colorScheme, reducedMotion: 'reduce'});
      await say(page, 'tune it');
      await page.waitForSelector('.diff');
      if (colorScheme === 'light') {
        assert.deepEqual(await page.locator('.diff mark').allInnerTexts(), ['64', '128', 'few', 'many']);
        assert.deepEqual(await page.locator('.diff .gap').allInnerTexts(), ['⋯\n13 unchanged lines']);
        const colours = await page.evaluate(() => ['k', 'f', 's', 'c'].map((kind) => Boolean(document.querySelector(`.diff .ins .${kind}`))));
        assert.deepEqual(colours, [true, true, true, true], 'words, calls, texts and comments have their colours');
        assert.equal(await page.evaluate(() => new Set([...document.querySelectorAll('.diff > div')].map((n) => n.getBoundingClientRect().width)).size), 1, 'a line is coloured as far as one can scroll');
      }
      assert.deepEqual(await poorContrast(page), [], colorScheme);
      await shot(page, `diff-${colorScheme}`);
      await page.click('[data-answer=deny]');
      await page.context().close();
    }
  },
  async a_card_says_nothing_twice() {
    const page = await open();
    await say(page, 'tune it');
    await page.click('[data-answer=allow]');
    await page.waitForFunction(() => document.querySelector('[data-answer=allow]')?.closest('.card').innerText.startsWith('bash'));
    await page.click('[data-answer=allow]');
    await page.waitForSelector('.card[data-outcome=error] .output >> text=exit code 3');
    await page.waitForSelector('.answer:last-child [data-answer=allow]');
    const head = (name) => page.locator('.card', {has: page.locator(`.tool:text-is("${name}")`)});
    assert.match(await head('write').first().locator('summary').innerText(), /\+2 −2/);
    assert.equal(await head('write').first().locator('.output').count(), 0, 'a diff needs no "overwrote"');
    assert.equal(await head('read').nth(1).locator('.card-body').innerText(), 'no such file: nowhere.c', 'its path stands above');
    assert.doesNotMatch(await head('bash').locator('summary').innerText(), /exit code/);
    assert.equal(await head('write').nth(1).locator('.diff').count(), 0);
    assert.match(await head('write').nth(1).innerText(), /Nothing changes/);
    await page.click('[data-answer=allow]');
    await done(page);
    assert.match(await head('write').nth(1).locator('summary').innerText(), /no change/);
    await page.context().close();
  },
};
