// work.js - what a person does with a session: say, answer, stop, go back, copy, rename, delete. Part of App.

const someKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((n) => n.toString(16).padStart(2, '0')).join('');

Object.assign(App.prototype, {
  // What the parts of the page may do, and ask.
  actions() {
    const tell = (promise) => promise.catch((e) => this.fail(e));
    return {
      may: (right) => this.info.rights.includes(right),
      session: () => this.id,
      fail: (error) => this.fail(error),
      drawn: () => this.drawQuestion(), // a question may have come, and nothing else after it
      following: (yes) => { if (this.toEnd) this.toEnd.hidden = yes; },
      answer: (call, approved, reason, answer) => api.post(this.path(`/approvals/${encodeURIComponent(call)}`), {approved, reason: reason || undefined, answer}),
      stop: () => this.stop(),
      say: (how, content, changes) => this.say(how, content, changes),
      state: async () => (this.id ? (await api.get(this.path('/state'))).state : {}),
      artifacts: async () => (this.id ? (await api.get(this.path('/artifacts?limit=200'))).artifacts : []),
      download: (artifact) => tell(this.download(artifact)),
      commands: () => this.commands(),
      asked: async (id) => (await api.get(`/api/sessions/${encodeURIComponent(id)}/approvals`)).approvals.length,
      stopChild: (child) => tell(api.post(this.path(`/subagents/${encodeURIComponent(child)}/cancel`))),
      stopCall: (call) => tell(api.post(this.path(`/calls/${encodeURIComponent(call)}/cancel`))),
      move: (entry) => tell(api.post(this.path('/move'), {entry: entry.entry})),
      edit: (item) => this.composer.edit(item),
      putBack: (words) => this.composer.put(words),
      again: (item) => tell(this.again(item)),
      resume: (run) => tell(api.post(this.path(`/runs/${encodeURIComponent(run)}/resume`))),
      reveal: (key) => {
        if (OVER.matches) this.togglePanel(false);
        this.chat.reveal(key);
      },
      settings: () => { this.togglePanel(true); this.panel.select('usage'); },
      closePanel: () => this.togglePanel(false),
      windowOf: (model) => ((this.models || []).find((m) => m.name === model) || {}).context || 0,
      modelSelect: (model) => this.modelSelect(model),
      mostMode: () => this.info.max_mode,
      modeSelect: (mode) => this.choose('permission_mode', mode, modesUpTo(this.info.max_mode).map((m) => h('option', {value: m, title: MODES[m]}, m)), mode),
      thinkingSelect: (level) => this.choose('thinking', level || 'default', ['default', 'off', 'minimal', 'low', 'medium', 'high', 'xhigh'].map((t) => h('option', {value: t, selected: t === (level || 'default'), disabled: t === 'default'}, t))),
    };
  },
  async say(how, content, changes) {
    if (!this.id) {
      const made = await api.post('/api/sessions', this.form.values());
      history.pushState(null, '', `#/s/${encodeURIComponent(made.id)}`);
      this.madeHere = made.id; // all of it is news
      this.open(made.id, true);
    }
    if (changes) await api.post(this.path('/move'), {entry: changes.parent});
    this.chat.toEnd(); // the answer may be here before we are told that it was asked for
    // Between what is shown here and now a run may have begun or ended: the server does what fits.
    await api.post(this.path('/prompt'), {content, when_busy: how === 'steer' ? 'steer' : 'enqueue'}, {'idempotency-key': someKey()});
  },
  // A run that failed: back to before it, and the same words again.
  async again(item) {
    await api.post(this.path('/rewind'), {run: item.run});
    this.chat.toEnd();
    await api.post(this.path('/prompt'), {content: item.content});
  },
  async stop() {
    if (!this.conversation.running || !this.act.may('run')) return;
    await api.post(this.path('/cancel')).catch((e) => this.fail(e));
  },
  answerFirst(how) {
    const button = this.log.querySelector(`[data-answer=${how}]`);
    if (button && !this.toQuestion.hidden) this.showQuestion(); // nobody answers what is out of view
    else button?.click();
  },
  fresh() {
    if (location.hash) location.hash = '';
    else this.open(null);
    this.composer.box.focus();
  },
  fail(error) {
    if (error.status === 401) return this.signIn('The token is not valid any more.');
    return this.toasts.fail(error);
  },

  // ---- the menu of a session ----

  menuItems() {
    const c = this.conversation;
    const run = c.running && encodeURIComponent(c.running);
    const post = (path) => () => api.post(this.path(path)).catch((e) => this.fail(e));
    return [
      this.act.may('run') && ['pencil', 'Rename', () => this.rename()],
      run && !c.paused && this.act.may('run') && ['pause', 'Pause the run', post(`/runs/${run}/pause`)],
      run && c.paused && this.act.may('run') && ['play', 'Continue the run', post(`/runs/${run}/resume`)],
      this.act.may('run') && ['fork', 'Copy this session', () => this.fork()],
      navigator.clipboard && ['copy', 'Copy its id', () => navigator.clipboard.writeText(this.id)],
      this.act.may('admin') && ['trash', 'Delete this session', () => this.remove(), true],
    ].filter(Boolean);
  },
  async rename() {
    const title = await ask({title: 'Rename the session', value: this.title.textContent, ok: 'Rename'});
    if (title) this.change({title});
  },
  async change(what) {
    try {
      await api.patch(this.path(), what);
    } catch (error) {
      this.fail(error);
      this.panel.draw(true);
    }
  },
  async fork() {
    try {
      const made = await api.post(this.path('/fork'));
      location.hash = `#/s/${encodeURIComponent(made.id)}`;
      this.list.load();
    } catch (error) {
      this.fail(error);
    }
  },
  async remove() {
    const {id} = this;
    if (!(await ask({title: 'Delete this session?', text: `“${cut(this.title.textContent, 80)}” and the work of its sub-agents go for good.`, ok: 'Delete', danger: true}))) return;
    try {
      await api.delete(this.path());
      this.list.update({id}, 'removed');
      location.hash = '';
    } catch (error) {
      this.fail(error);
    }
  },

  async download({name, version}) {
    const bytes = await api.blob(this.path(`/artifacts/x?${new URLSearchParams({name, version})}`));
    const link = h('a', {href: URL.createObjectURL(bytes), download: name.split('/').pop()});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  },

  // ---- what is looked up when it is needed ----

  modelSelect(model) {
    const known = (this.models || []).some((m) => m.name === model && m.key);
    if (!this.models) this.loadModels();
    return this.choose('model', model, [!known && h('option', {value: model || ''}, model || 'default'), modelOptions(this.models || [])], known ? model : null);
  },
  choose(name, value, options, selected) {
    const select = h('select', {'aria-label': name, onchange: () => this.change({[name]: select.value})}, options);
    if (selected) select.value = selected;
    return select;
  },
  async loadModels() {
    this.models = [];
    this.models = (await api.get('/api/models').catch(() => ({models: []}))).models;
    this.panel.draw(true);
  },
  async commands() {
    if (!this.id || !this.act.may('run')) return [];
    if (!this.commandList) this.commandList = (await api.get(this.path('/commands')).catch(() => ({commands: []}))).commands;
    return this.commandList;
  },
  // A run whose process died says nothing any more: its row has no owner then. While one is under way elsewhere, we look again.
  lookAfter(row) {
    const {id, conversation: c} = this;
    clearTimeout(this.careTimer);
    if (isAbandoned(row) && row.last_seq === c.lastSeq) {
      this.chat.show(c, c.abandon());
      this.showAll();
    } else if (c.running && !row.live) {
      this.careTimer = setTimeout(async () => {
        const now = await api.get(this.path()).catch(() => null);
        if (now && this.id === id && this.conversation === c) this.lookAfter(now);
      }, 15000);
    }
  },
  // While sub-agents work: what they do, once a second, as long as somebody looks.
  watchChildren() {
    const {id, conversation: c} = this;
    if (this.childTimer || ![...c.children.values()].some((child) => child.status === 'running')) return;
    this.childTimer = setTimeout(async () => {
      const page = document.hidden ? null : await api.get(this.path('/subagents')).catch(() => null);
      if (this.id !== id || this.conversation !== c) return;
      for (const row of (page && page.subagents) || []) {
        const child = c.children.get(row.id);
        if (!child || child.status !== 'running') continue;
        child.live = row;
        if (child.call) this.chat.show(c, [`a-${child.call.slice(0, child.call.lastIndexOf('.'))}`]);
      }
      this.childTimer = null;
      this.panel.show(c);
      this.watchChildren();
    }, 1000);
  },
  // To the message that was found, however far back it is.
  async goTo() {
    const entry = `e${this.target}`;
    this.target = null;
    for (let tries = 0; tries < 50; tries++) {
      const item = this.conversation.items.find((i) => i.entry === entry);
      if (item) return this.chat.reveal(item.key);
      if (this.earlier.hidden) return null;
      await this.loadEarlier();
    }
    return null;
  },
  async loadEarlier() {
    const {id} = this;
    const after = Math.max(0, this.firstSeq - 1 - FIRST_EVENTS);
    const before = [];
    this.earlier.disabled = true;
    try {
      for (let at = after; at < this.firstSeq - 1;) {
        const page = await api.get(`${this.path('/events')}?after=${at}&limit=${PAGE_EVENTS}`);
        if (!page.events.length || this.id !== id) break;
        before.push(...page.events.filter((e) => e.seq < this.firstSeq));
        at = page.events[page.events.length - 1].seq;
      }
    } catch (error) {
      this.fail(error);
      return;
    } finally {
      this.earlier.disabled = false;
    }
    if (this.id !== id) return;
    this.events = [...before, ...this.events];
    this.firstSeq = after + 1;
    this.earlier.hidden = after === 0;
    this.refold(after);
  },
  refold(after) {
    const {settings} = this.conversation;
    this.conversation = new Conversation();
    Object.assign(this.conversation, {lastSeq: after, settings, partial: after > 0});
    for (const e of this.events) this.conversation.apply(e);
    this.chat.prepend(this.conversation);
    this.showAll();
  },
});

new App().start();
