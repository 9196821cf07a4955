// craft.mjs - how it looks and feels: what is said once, what stays quiet, what keeps its place.
import {assert, done, has, idOf, log, open, poorContrast, rig, say, shot} from './rig.mjs';

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
  async left_and_come_back_at_once() {
    const page = await open();
    await say(page, 'only once');
    await done(page);
    const id = idOf(page);
    const used = await page.innerText('.actions .info');
    assert.match(used, /tokens/);
    await page.click('text=New session');
    await page.waitForSelector('.settings:visible');
    const held = [];
    await page.route(`**/api/sessions/${id}`, (route) => { held.push(route); });
    await page.evaluate(async (at) => {
      for (const hash of [at, '', at]) {
        location.hash = hash;
        await new Promise((resolve) => addEventListener('hashchange', resolve, {once: true}));
      }
    }, `#/s/${id}`);
    while (held.length < 2) await page.waitForTimeout(20);
    await held[0].continue();
    await page.waitForTimeout(300); // whoever listens to the first visit reads all of it
    await held[1].continue();
    await done(page);
    await page.waitForTimeout(300);
    assert.equal(await page.innerText('.actions .info'), used, 'each event counts once');
    await page.context().close();
  },
  async who_scrolls_up_stays_there() {
    const page = await open({viewport: {width: 1000, height: 500}});
    const atEnd = () => page.waitForFunction(() => { const s = document.querySelector('.scroll'); return s.scrollHeight - s.scrollTop - s.clientHeight < 2; });
    const still = () => page.evaluate(async () => { // where the wheel has left it
      const s = document.querySelector('.scroll');
      for (let was = -1; was !== s.scrollTop;) {
        was = s.scrollTop;
        for (let frame = 0; frame < 10; frame++) await new Promise(requestAnimationFrame);
      }
      return s.scrollTop;
    });
    const lines = () => page.evaluate(() => document.querySelector('.log').innerText.match(/line \d+/g).length);
    await say(page, 'lines of a long book');
    await has(page, 'line 30');
    await atEnd();
    await page.mouse.move(500, 200);
    await page.mouse.wheel(0, -30); // less than a line or two
    await page.waitForSelector('.to-end:visible');
    const top = await still();
    await has(page, `line ${await lines() + 10}`);
    assert.equal(await still(), top, 'what is read does not move');
    await page.click('.to-end');
    await atEnd();
    await page.waitForSelector('.to-end', {state: 'hidden'});
    await has(page, `line ${await lines() + 10}`);
    await atEnd();
    await page.click('.stop');
    await done(page);
    await page.waitForFunction(() => !document.querySelector('.growing'));
    await atEnd(); // and it follows to the end
    await page.context().close();
  },
  async a_question_out_of_view_is_not_answered_by_a_key() {
    const page = await open({viewport: {width: 1000, height: 500}});
    await say(page, 'lines of a book');
    await done(page);
    await say(page, 'look around');
    await page.waitForSelector('[data-answer=allow]');
    await page.evaluate(() => { document.activeElement.blur(); document.querySelector('.scroll').scrollTop = 0; });
    await page.waitForSelector('.to-question:visible');
    await page.keyboard.press('a');
    await page.waitForSelector('.to-question', {state: 'hidden'});
    assert.equal(await page.locator('[data-answer=allow]').count(), 1, 'it is shown first');
    await page.keyboard.press('a');
    await has(page, 'I have looked.');
    await page.context().close();
  },
  async the_focus_is_not_lost() {
    const page = await open();
    await say(page, 'look around');
    await page.focus('[data-answer=allow]');
    await page.keyboard.press('Enter');
    await done(page);
    assert.equal(await page.evaluate(() => document.activeElement.closest('.card')?.querySelector('.tool').innerText), 'bash', 'after an answer it is at the card');
    await page.focus('.menu summary');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.activeElement.getAttribute('role') === 'menuitem');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+Tab');
    assert.equal(await page.evaluate(() => document.querySelector('.menu').open), false, 'a menu closes when it is left');
    await page.context().close();
  },
  async a_long_form_is_read_from_its_beginning() {
    const page = await open({viewport: {width: 1000, height: 520}});
    await say(page, 'fill in');
    await page.waitForSelector('.question .fields');
    await page.waitForFunction(() => {
      const top = document.querySelector('.card:has(.question)').getBoundingClientRect().top - document.querySelector('.scroll').getBoundingClientRect().top;
      return top >= 0 && top < 40;
    });
    await page.click('.question .label >> text=Name');
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Name', 'the words of a field lead to it');
    assert.equal(await page.locator('.card:has(.question) blockquote').count(), 0, 'the question is there once');
    await page.context().close();
  },
  async what_covers_a_phone_has_the_focus() {
    const page = await open({viewport: {width: 390, height: 780}, isMobile: true, hasTouch: true});
    await say(page, 'paint');
    await done(page);
    const inert = () => page.evaluate(() => document.querySelector('main').inert);
    await page.tap('[aria-label="Details (D)"]');
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute('role')), 'tab');
    assert.equal(await inert(), true);
    await page.keyboard.press('Escape');
    assert.equal(await page.evaluate(() => document.activeElement.title), 'Details (D)');
    assert.equal(await inert(), false);
    await page.tap('header [aria-label=Sessions]');
    assert.equal(await inert(), true);
    assert.equal(await page.evaluate(() => document.activeElement.id), 'side', 'not in the field, which would bring up the keyboard');
    await shot(page, 'phone-side');
    await page.keyboard.press('Escape');
    assert.equal(await page.evaluate(() => document.activeElement.title), 'Sessions');
    assert.equal(await inert(), false);
    await page.context().close();
  },
  async fingers_find_everything() {
    const page = await open({viewport: {width: 390, height: 780}, isMobile: true, hasTouch: true});
    const small = () => page.evaluate(() => [...document.querySelectorAll('button, a.button, select, textarea, summary, input:not([type=file]), .sessions a, .choices label, label.check')]
      .filter((n) => n.checkVisibility({opacityProperty: true, visibilityProperty: true}) && !n.closest('[inert]') && !n.matches('[type=checkbox], [type=radio]'))
      .map((n) => [n.getBoundingClientRect(), n]).filter(([r]) => r.width > 0 && (r.height < 39.5 || r.width < 39.5))
      .map(([r, n]) => `${Math.round(r.width)}x${Math.round(r.height)} ${n.tagName}.${n.className} ${n.innerText || n.title}`));
    const zooms = () => page.evaluate(() => [...document.querySelectorAll('input, select, textarea')].filter((n) => n.checkVisibility() && parseFloat(getComputedStyle(n).fontSize) < 16).map((n) => n.outerHTML));
    assert.deepEqual(await small(), []);
    assert.deepEqual(await zooms(), []);
    await say(page, 'paint');
    await done(page);
    assert.deepEqual(await small(), [], 'also copying and changing, without hovering');
    assert.ok(await page.isVisible('[aria-label="Change it and ask again"]'));
    await say(page, 'fill in');
    await page.waitForSelector('.question .fields');
    assert.deepEqual(await small(), []);
    assert.deepEqual(await zooms(), []);
    await shot(page, 'phone-form');
    await page.tap('[aria-label="Details (D)"]');
    for (const tab of ['timeline', 'tree', 'usage']) {
      await page.tap(`[data-tab=${tab}]`);
      await page.waitForTimeout(50);
      assert.deepEqual(await small(), [], tab);
    }
    await page.tap('[aria-label="Close details"]');
    await page.tap('[data-answer=deny]');
    await done(page, 2);
    await page.context().close();
  },
  async offline_on_a_phone_leaves_everything_in_its_place() {
    const page = await open({viewport: {width: 390, height: 780}, isMobile: true, hasTouch: true});
    await say(page, 'a session with quite a long name');
    await done(page);
    page.expectsTrouble = true;
    await rig.server.stop('SIGKILL');
    await page.waitForFunction(() => document.querySelector('.status').innerText.includes('no connection'));
    assert.ok(await page.evaluate(() => [...document.querySelectorAll('header > *')].every((n) => n.getBoundingClientRect().right <= innerWidth)));
    await shot(page, 'phone-offline');
    await rig.server.start();
    await page.tap('text=Try now');
    await page.waitForFunction(() => !document.querySelector('.status').innerText);
    assert.ok((await log(page)).includes('quite a long name'));
    await page.context().close();
  },
  async commands_and_outputs_are_copied() {
    const page = await open({permissions: ['clipboard-read', 'clipboard-write']});
    await say(page, 'look around');
    await page.click('[data-answer=allow]');
    await done(page);
    assert.equal(await page.locator('.user .tools time').count(), 1, 'when it was said');
    await page.click('.card summary');
    await page.hover('pre.command');
    await page.click('[aria-label="Copy the command"]');
    await page.waitForFunction(() => document.querySelector('.unseen').textContent === 'Copied.');
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'echo seen it');
    await page.focus('[aria-label="Copy the output"]');
    await page.keyboard.press('Enter');
    await page.waitForFunction(async () => (await navigator.clipboard.readText()).trim() === 'seen it');
    await page.context().close();
  },
  async keys_are_shown_where_they_work() {
    const page = await open();
    await say(page, 'tune it');
    const shown = (words) => page.waitForFunction((w) => [...document.querySelectorAll('.approval')].map((n) => n.querySelector('kbd').checkVisibility()).join() === w, words);
    await shown('true,false');
    await page.click('[data-answer=deny]');
    await shown('true');
    await page.context().close();
  },
  async lists_of_another_kind_are_other_lists() {
    const page = await open();
    const shape = (text) => page.evaluate((t) => {
      const node = document.createElement('div');
      new Markdown(node).show(t);
      const of = (n) => [...n.children].filter((c) => /^(UL|OL|LI)$/.test(c.tagName)).map((c) => c.tagName + (of(c) ? `(${of(c)})` : '')).join();
      return of(node);
    }, text);
    assert.equal(await shape('1. a\n2. b\n\n* c\n* d\n\n+ e'), 'OL(LI,LI),UL(LI,LI),UL(LI)');
    assert.equal(await shape('1. a\n   - b\n   - c\n2. d\n   1. e'), 'OL(LI(UL(LI,LI)),LI(OL(LI)))');
    assert.equal(await shape('9. a\n10. b\n\n11. c'), 'OL(LI,LI,LI)');
    await page.context().close();
  },
  async the_conversation_stands_over_the_field() {
    const page = await open();
    for (const width of [1900, 1000, 390]) {
      await page.setViewportSize({width, height: 700});
      if (width === 1900) {
        await say(page, 'paint');
        await done(page);
      }
      const [text, field] = await page.evaluate(() => ['.answer > .md', '.compose'].map((what) => document.querySelector(what).getBoundingClientRect()).map((r) => [Math.round(r.left), Math.round(r.right)]));
      if (width > 760) assert.deepEqual(text, field, `${width}`);
    }
    await page.context().close();
  },
  async what_is_typed_stays_with_its_session() {
    const page = await open();
    await say(page, 'a first session');
    await done(page);
    const first = page.url();
    await page.fill('textarea', 'half a sentence');
    await page.setInputFiles('input[type=file]', [{name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('text of a')}]);
    await page.waitForSelector('.chip');
    await page.click('text=New session');
    await page.waitForSelector('.settings:visible');
    assert.equal(await page.inputValue('textarea'), '');
    assert.equal(await page.locator('.chip').count(), 0);
    await page.fill('textarea', 'for the new one');
    await page.goto(first);
    await page.waitForFunction(() => document.querySelector('textarea').value === 'half a sentence');
    assert.equal(await page.locator('.chip').count(), 1);
    await page.reload();
    await page.waitForFunction(() => document.querySelector('textarea')?.value === 'half a sentence');
    await page.click('text=New session');
    await page.waitForFunction(() => document.querySelector('textarea').value === 'for the new one');
    await page.press('textarea', 'Enter');
    await done(page);
    assert.equal(await page.inputValue('textarea'), '', 'what was sent is gone');
    assert.deepEqual(await page.evaluate(() => Object.values(sessionStorage).filter((v) => /half|new one/.test(v))), ['half a sentence']);
    await page.click('text=New session');
    await page.waitForSelector('.settings:visible');
    assert.equal(await page.inputValue('textarea'), '');
    await page.click('[aria-label="Sign out"]');
    await page.waitForSelector('.signin');
    assert.equal(await page.evaluate(() => sessionStorage.length), 0, 'nothing is left to the next one');
    await page.context().close();
  },
};
