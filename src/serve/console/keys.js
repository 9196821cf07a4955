// keys.js - keys, and what slides over the page on small screens. Part of App.

const PHONE = matchMedia('(max-width: 760px)'); // as in frame.css
const OVER = matchMedia('(max-width: 1100px)'); // the details lie over the page

Object.assign(App.prototype, {
  keys(event) {
    const typing = event.target.closest('input, textarea, select');
    if (document.querySelector('dialog[open]')) return null;
    if (event.key === 'Escape') return this.escape(typing);
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return null;
    const tabs = Object.keys(this.panel.names);
    const action = {n: () => this.fresh(), '/': () => this.find(), d: () => this.togglePanel(), i: () => this.composer.box.focus(), j: () => this.step(1), k: () => this.step(-1),
      a: () => this.answerFirst('allow'), x: () => this.answerFirst('deny'), '?': showKeys}[event.key] || (tabs[event.key - 1] && (() => { this.togglePanel(true); this.panel.select(tabs[event.key - 1]); }));
    if (!action) return null;
    event.preventDefault();
    return action();
  },
  // From one session to the next by keys: the next key must not land in the message field.
  step(by) {
    this.stepping = true;
    this.composer.box.blur();
    this.list.step(by);
  },
  find() {
    if (getComputedStyle(this.side).visibility === 'hidden') this.toggleSide(true);
    this.list.search.focus();
  },
  escape(typing) {
    if (this.side.classList.contains('open')) return this.toggleSide(false);
    if (!this.panelNode.hidden && !this.panelNode.parentNode.hidden && OVER.matches) return this.togglePanel(false);
    if (typing && typing === this.list.search) {
      typing.value = '';
      this.list.find();
      return this.composer.box.focus();
    }
    if (this.composer.changes) return this.composer.edit(null);
    if (typing && typing.value) return null; // words that are being typed are no reason to stop
    if (typing && this.log.querySelector('[data-answer]')) return this.showQuestion(); // from there A and X answer, Esc stops
    return this.stop();
  },
  // What lies over the page on a phone has the focus, and gives it back.
  toggleSide(open = !this.side.classList.contains('open')) {
    const back = !open && PHONE.matches && this.side.contains(document.activeElement);
    this.side.classList.toggle('open', open);
    this.menuButton.setAttribute('aria-expanded', String(open));
    this.cover();
    if (open) (matchMedia('(pointer: coarse)').matches ? this.side : this.list.search).focus(); // no keyboard over the list
    else if (back) this.menuButton.focus();
  },
  togglePanel(open = this.panelNode.hidden) {
    const back = !open && this.panelNode.contains(document.activeElement);
    this.panelNode.hidden = !open;
    this.panelButton.setAttribute('aria-expanded', String(open));
    this.cover();
    if (open) this.panel.draw(true);
    if (open && OVER.matches) this.panel.tabs.querySelector('[aria-selected=true]').focus();
    else if (back) this.panelButton.focus();
  },
  cover() {
    this.main.inert = PHONE.matches && (this.side.classList.contains('open') || !this.panelNode.hidden);
  },
});
