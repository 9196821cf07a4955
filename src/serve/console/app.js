// app.js - the page: signing in, which session is shown, keys, what went wrong.

const PAGE_EVENTS = 1000;
const FIRST_EVENTS = 2000; // of a long session; older ones on demand

class App {
  constructor() {
    this.conversation = null;
    this.act = {
      answer: (call, approved, reason) => api.post(this.path(`/approvals/${encodeURIComponent(call)}`), reason ? {approved, reason} : {approved}),
      fail: (error) => this.fail(error),
      following: (yes) => { this.toEnd.hidden = yes; },
      stop: () => this.stop(),
      say: (how, words, blocks) => this.say(how, words, blocks),
      state: async () => (await api.get(this.path('/state'))).state,
      stopChild: (child) => api.post(this.path(`/subagents/${encodeURIComponent(child)}/cancel`)).catch((e) => this.fail(e)),
      move: (entry) => api.post(this.path('/move'), {entry: entry.entry}).catch((e) => this.fail(e)),
      closePanel: () => this.togglePanel(false),
    };
  }
  path(rest = '') {
    return `/api/sessions/${encodeURIComponent(this.id)}${rest}`;
  }

  // ---- the frame ----

  build() {
    const side = h('aside.side', {id: 'side', 'aria-label': 'Sessions'});
    const listBox = h('div.list');
    this.side = side;
    replace(side, h('div.brand', h('strong', 'hob'), h('div.row',
      iconButton('plus', 'New session (N)', () => this.fresh()), iconButton('theme', 'Light or dark', () => theme.next()),
      iconButton('out', 'Sign out', () => this.signOut()))), listBox);
    this.title = h('h1', 'hob');
    this.statusLine = h('span.status', {role: 'status', 'aria-live': 'polite'});
    this.earlier = h('button.small', {type: 'button', hidden: true, onclick: () => this.loadEarlier()}, 'Earlier messages');
    const log = h('div.log', {role: 'log', 'aria-label': 'Conversation'});
    this.toEnd = h('button.icon.to-end', {type: 'button', hidden: true, title: 'To the end', 'aria-label': 'To the end', onclick: () => this.chat.toEnd()}, icon('down'));
    this.welcome = h('div.welcome');
    const scroll = h('div.scroll', {tabindex: -1}, h('div.column', this.earlier, this.welcome, log));
    this.toasts = h('div.toasts', {role: 'alert'});
    const composeBox = h('div.composer');
    this.panelNode = h('aside.panel', {hidden: true, 'aria-label': 'Details'});
    this.menuButton = iconButton('menu', 'Sessions', () => this.toggleSide(), {'aria-expanded': 'false', 'aria-controls': 'side'});
    this.forkButton = iconButton('fork', 'Copy this session', () => this.fork());
    this.deleteButton = iconButton('trash', 'Delete this session', () => this.remove(), {class: 'icon needs-admin'});
    const main = h('main', h('header', this.menuButton, this.title, this.statusLine, this.forkButton, this.deleteButton,
      iconButton('panel', 'Details (D)', () => this.togglePanel())), scroll, this.toEnd, composeBox);
    replace(document.body, h('div.app', side, h('div.shade', {onclick: () => this.toggleSide(false)}), main, this.panelNode), this.toasts);
    this.chat = new Chat(log, this.act);
    this.panel = new Panel(this.panelNode, this.act);
    this.list = new SessionList(listBox, this.act);
    this.composer = new Composer(composeBox, this.act);
  }
  async start() {
    theme.apply();
    if (!token.load()) return this.signIn();
    try {
      this.info = await api.get('/api/server');
    } catch (error) {
      return this.signIn(error.status === 401 ? 'The token is not valid.' : error.message);
    }
    this.build();
    for (const right of ['run', 'approve', 'admin']) document.body.classList.toggle(`may-not-${right}`, !this.info.rights.includes(right));
    addEventListener('hashchange', () => this.route());
    addEventListener('keydown', (event) => this.keys(event));
    await this.list.load();
    this.listStream = new Stream('/api/sessions', {onEvent: (row, e) => this.rowChanged(row, e.type), onEnd: () => this.signIn('The token is not valid any more.')});
    if (matchMedia('(min-width: 1200px)').matches) this.togglePanel(true);
    this.route();
  }
  signIn(message) {
    if (this.listStream) this.listStream.stop();
    if (this.stream) this.stream.stop();
    const field = h('input', {type: 'password', name: 'token', autocomplete: 'current-password', required: true, 'aria-label': 'Token', placeholder: 'Token'});
    const keep = h('input', {type: 'checkbox', id: 'keep'});
    const form = h('form.signin', {onsubmit: (event) => {
      event.preventDefault();
      token.set(field.value.trim(), keep.checked);
      this.start();
    }}, h('h1', 'hob'), message && h('p.error', {role: 'alert'}, message),
    h('p', 'The token was shown when the server first started. It is also in the file ', h('code', 'server-token'), ' of its state folder.'),
    field, h('label', {for: 'keep'}, keep, ' Keep me signed in on this device'), h('button.primary', 'Open'));
    replace(document.body, form);
    field.focus();
  }
  signOut() {
    token.forget();
    this.signIn();
  }

  // ---- which session ----

  route() {
    const m = /^#\/s\/(.+)$/.exec(location.hash);
    this.toggleSide(false);
    this.open(m ? decodeURIComponent(m[1]) : null);
  }
  open(id) {
    if (this.stream) this.stream.stop();
    this.stream = null;
    this.id = id;
    this.events = [];
    this.firstSeq = 1;
    this.conversation = new Conversation();
    this.chat.clear();
    this.list.select(id);
    this.deleteButton.hidden = this.forkButton.hidden = !id;
    this.earlier.hidden = true;
    this.showAll();
    if (id) this.attach(id);
    else this.composer.box.focus();
  }
  rowChanged(row, type) {
    this.list.update(row, type);
    if (row.id === this.id) this.showAll();
  }
  async attach(id) {
    try {
      const row = await api.get(this.path());
      const after = Math.max(0, (row.last_seq || 0) - FIRST_EVENTS);
      if (this.id !== id) return;
      this.row = row;
      this.firstSeq = after + 1;
      this.earlier.hidden = after === 0;
      this.conversation.lastSeq = after;
      this.conversation.settings = {model: row.model, cwd: row.cwd, title: row.title};
      this.stream = new Stream(this.path('/events'), {after, onEvent: (e) => this.event(e),
        onState: (state, wait) => this.online(state, wait), onEnd: (error) => this.fail(error)});
    } catch (error) {
      if (this.id === id) this.fail(error);
    }
  }
  event(e) {
    if (e.seq) this.events.push(e);
    const keys = this.conversation.apply(e);
    this.chat.show(this.conversation, keys);
    if (!this.frame) this.frame = requestAnimationFrame(() => { this.frame = null; this.showAll(); });
  }
  showAll() {
    const c = this.conversation;
    const asking = c.approvals.size;
    this.title.textContent = c.settings.title || (this.list.rows.get(this.id) || {}).title
      || cut(c.firstWords || '', 80) || (this.id ? 'Session' : 'New session');
    document.title = `${asking ? '(!) ' : c.running ? '● ' : ''}${this.title.textContent} · hob`;
    this.composer.state(Boolean(c.running), c.stopping);
    this.composer.showQueue(c.queue);
    const u = c.usage;
    const tokens = u.input_tokens + u.output_tokens + u.cache_read_tokens + u.cache_write_tokens;
    replace(this.composer.info, [c.settings.model, c.settings.mode && `permissions: ${c.settings.mode}`, tokens ? `${count(tokens)} tokens` : null, money(c.cost || null)]
      .filter(Boolean).join(' · '));
    this.statusWord = asking ? 'waits for you' : c.stopping ? 'stopping' : c.running ? 'working' : '';
    this.drawStatus();
    this.welcome.hidden = Boolean(this.id);
    if (!this.id) this.drawWelcome();
    this.panel.show(c);
  }
  drawWelcome() {
    if (this.welcome.childNodes.length) return;
    replace(this.welcome, h('h2', 'A new session'), h('p', `Works in ${this.info.cwd || 'no folder'}.`),
      h('p.hint', 'N new session · / search · D details · Esc stop · A allow, X deny'));
  }
  drawStatus() {
    replace(this.statusLine, this.connection ? h('span.badge.warn', this.connection)
      : this.statusWord && h(`span.badge.${this.conversation.approvals.size ? 'warn' : 'live'}`, h('span.spinner'), this.statusWord));
  }
  online(state, wait) {
    this.connection = state === 'waiting' ? `no connection, next try in ${Math.ceil(wait / 1000)} s` : '';
    this.drawStatus();
  }
  async loadEarlier() {
    const id = this.id;
    const after = Math.max(0, this.firstSeq - 1 - FIRST_EVENTS);
    const before = [];
    try {
      for (let at = after; at < this.firstSeq - 1;) {
        const page = await api.get(`${this.path('/events')}?after=${at}&limit=${PAGE_EVENTS}`);
        if (!page.events.length || this.id !== id) break;
        before.push(...page.events.filter((e) => e.seq < this.firstSeq));
        at = page.events[page.events.length - 1].seq;
      }
    } catch (error) {
      return this.fail(error);
    }
    if (this.id !== id) return null;
    this.events = [...before, ...this.events];
    this.firstSeq = after + 1;
    this.earlier.hidden = after === 0;
    return this.refold(after);
  }
  refold(after) {
    const settings = this.conversation.settings;
    const height = this.chat.scroller.scrollHeight;
    this.conversation = new Conversation();
    Object.assign(this.conversation, {lastSeq: after, settings});
    this.chat.clear();
    this.chat.following = false;
    for (const e of this.events) this.chat.show(this.conversation, this.conversation.apply(e));
    requestAnimationFrame(() => { this.chat.scroller.scrollTop += this.chat.scroller.scrollHeight - height; });
    this.showAll();
  }

  // ---- acting ----

  async say(how, words, blocks) {
    if (!this.id) {
      const made = await api.post('/api/sessions', {});
      history.pushState(null, '', `#/s/${encodeURIComponent(made.id)}`);
      this.open(made.id);
    }
    const content = [...(words ? [{type: 'text', text: words}] : []), ...blocks];
    if (how === 'steer') await api.post(this.path('/steer'), {text: words});
    else if (how === 'enqueue') await api.post(this.path('/prompt'), {content, when_busy: 'enqueue'});
    else await api.post(this.path('/prompt'), {content}, {'idempotency-key': crypto.randomUUID()});
    this.chat.toEnd();
  }
  async stop() {
    if (!this.conversation.running) return;
    await api.post(this.path('/cancel')).catch((e) => this.fail(e));
  }
  async fork() {
    try {
      const made = await api.post(this.path('/fork'));
      location.hash = `#/s/${encodeURIComponent(made.id)}`;
      this.list.load();
    } catch (error) {
      this.fail(error);
    }
  }
  async remove() {
    if (!this.id || !confirm('Delete this session and the work of its sub-agents? This cannot be undone.')) return;
    try {
      await api.delete(this.path());
      this.list.update({id: this.id}, 'removed');
      location.hash = '';
    } catch (error) {
      this.fail(error);
    }
  }
  fresh() {
    if (location.hash) location.hash = '';
    else this.open(null);
    this.composer.box.focus();
  }

  // ---- keys, drawers, errors ----

  keys(event) {
    const typing = event.target.closest('input, textarea, select');
    if (event.key === 'Escape') return this.escape(typing);
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return null;
    const action = {n: () => this.fresh(), '/': () => this.list.search.focus(), d: () => this.togglePanel(),
      i: () => this.composer.box.focus(), a: () => this.answerFirst('allow'), x: () => this.answerFirst('deny')}[event.key];
    if (!action) return null;
    event.preventDefault();
    return action();
  }
  escape(typing) {
    if (typing && typing.value && typing !== this.composer.box) return null;
    if (this.side.classList.contains('open')) return this.toggleSide(false);
    return this.stop();
  }
  answerFirst(how) {
    document.querySelector(`.log [data-answer=${how}]`)?.click();
  }
  toggleSide(open = !this.side.classList.contains('open')) {
    this.side.classList.toggle('open', open);
    this.menuButton.setAttribute('aria-expanded', String(open));
    if (open) this.list.search.focus();
  }
  togglePanel(open = this.panelNode.hidden) {
    this.panelNode.hidden = !open;
    if (open) this.panel.draw(true);
  }
  fail(error) {
    if (error.status === 401) return this.signIn('The token is not valid any more.');
    const hints = {409: ' Try again when the work is done, or steer it.', 429: ` Wait ${error.retryAfter || 'a few'} s and try again.`};
    const toast = h('div.toast', `${error.message}${/[.!?]$/.test(error.message) ? '' : '.'}${hints[error.status] || ''}`, iconButton('close', 'Dismiss', () => toast.remove()));
    this.toasts.append(toast);
    return setTimeout(() => toast.remove(), 12000);
  }
}

const theme = {
  apply() {
    const chosen = localStorage.getItem('hob.theme');
    if (chosen) document.documentElement.dataset.theme = chosen;
    else delete document.documentElement.dataset.theme;
  },
  next() {
    const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === 'dark'
      : matchMedia('(prefers-color-scheme: dark)').matches;
    localStorage.setItem('hob.theme', dark ? 'light' : 'dark');
    this.apply();
  },
};

new App().start();
