// app.js - the page: its frame, which session is shown, what arrives. Keys are in keys.js, what a person does with a session
// in work.js.

const PAGE_EVENTS = 1000;
const FIRST_EVENTS = 1000; // of a long session; older ones when somebody scrolls up to them

class App {
  constructor() {
    this.conversation = null;
    this.toasts = new Toasts();
    api.worked = () => this.toasts.clear();
    this.act = this.actions(); // work.js: what the parts of the page may do
  }
  path(rest = '') {
    return `/api/sessions/${encodeURIComponent(this.id)}${rest}`;
  }

  // ---- the frame ----

  build() {
    const listBox = h('div.list');
    const themeButton = iconButton('theme', theme.names[theme.chosen()], () => {
      const name = theme.next();
      themeButton.title = name;
      themeButton.setAttribute('aria-label', name);
    });
    this.side = h('nav.side', {id: 'side', tabindex: -1, 'aria-label': 'Sessions'}, h('div.brand', h('strong', logo(), 'hob'), h('div.row',
      iconButton('keys', 'Keys (?)', showKeys, {class: 'icon not-phone'}), themeButton, iconButton('out', 'Sign out', () => this.signOut()))),
    h('button.fresh.needs-run', {type: 'button', title: 'New session (N)', onclick: () => this.fresh()}, icon('plus'), 'New session'), listBox);
    this.crumb = h('a.crumb', {hidden: true}, icon('up'), 'caller');
    this.title = h('h1', 'hob');
    this.statusLine = h('span.status');
    this.earlier = h('button.small', {type: 'button', hidden: true, onclick: () => this.loadEarlier()}, 'Earlier messages');
    this.log = h('div.log', {role: 'log', 'aria-live': 'off', 'aria-label': 'Conversation'});
    this.news = h('div.unseen', {'aria-live': 'polite'});
    this.toEnd = h('button.icon.to-end', {type: 'button', hidden: true, title: 'To the end', 'aria-label': 'To the end', onclick: () => this.chat.toEnd()}, icon('down'));
    this.toQuestion = h('button.to-question', {type: 'button', hidden: true, onclick: () => this.showQuestion()});
    this.welcome = h('div.welcome');
    this.pause = h('div.pause', {role: 'status', hidden: true}, icon('pause'), h('b', 'Paused'), h('span', 'It stands until you let it go on.'),
      h('button.primary.small.needs-run', {type: 'button', onclick: () => this.act.resume(this.conversation.running)}, icon('play'), 'Continue'));
    const scroll = h('div.scroll', {tabindex: -1}, h('div.column', this.earlier, this.welcome, this.log, this.pause));
    const composeBox = h('div.composer');
    this.under = h('div.under');
    this.panelNode = h('aside.panel', {hidden: true, 'aria-label': 'Details'});
    this.menuButton = iconButton('menu', 'Sessions', () => this.toggleSide(), {'aria-expanded': 'false', 'aria-controls': 'side', class: 'icon only-phone'});
    this.menu = menuButton('More', () => this.menuItems());
    this.panelButton = iconButton('panel', 'Details (D)', () => this.togglePanel(), {'aria-expanded': 'false'});
    const main = this.main = h('main', h('header', this.menuButton, h('div.heading', this.crumb, this.title), this.statusLine, this.menu, this.panelButton),
      scroll, h('div.over', this.toQuestion, this.toEnd), this.toasts.node, composeBox, this.under);
    replace(document.body, h('div.app', this.side, h('div.shade', {onclick: () => this.toggleSide(false)}), main, this.panelNode), this.news);
    this.chat = new Chat(this.log, this.act);
    this.panel = new Panel(this.panelNode, this.act);
    this.list = new SessionList(listBox, this.act);
    this.composer = new Composer(composeBox, this.act);
    this.form = new Fresh(this.welcome, this.under, this.info, this.act);
    scroll.addEventListener('scroll', () => {
      this.drawQuestion();
      if (scroll.scrollTop < 300 && !this.earlier.hidden && !this.earlier.disabled && !this.chat.following) this.loadEarlier();
    }, {passive: true});
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
    for (const right of ['run', 'approve', 'admin']) document.body.classList.toggle(`may-not-${right}`, !this.act.may(right));
    addEventListener('hashchange', () => this.route());
    addEventListener('keydown', (event) => this.keys(event));
    document.addEventListener('visibilitychange', () => this.lookedAt());
    addEventListener('online', () => this.lookedAt());
    PHONE.addEventListener('change', () => this.cover());
    await this.list.load();
    this.watchList();
    if (matchMedia('(min-width: 1200px)').matches) this.togglePanel(true);
    return this.route();
  }
  signIn(message) {
    for (const stream of [this.listStream, this.stream]) if (stream) stream.stop();
    signInPage(message, () => location.reload());
  }
  signOut() {
    token.forget();
    location.reload();
  }
  watchList() {
    this.listStream = new Stream('/api/sessions', {onEvent: (row, e) => this.rowChanged(row, e.type), onState: (state, wait) => !this.stream && this.online(state, wait), onEnd: () => this.signIn('The token is not valid any more.')});
  }
  // Browsers allow six connections to one server: a page that nobody sees keeps one while its session works, else none.
  lookedAt() {
    clearTimeout(this.hideTimer);
    if (document.hidden) {
      this.hideTimer = setTimeout(() => this.restUnseen(), 5000);
      return;
    }
    if (this.listStream.resting) this.list.load(); // what was removed meanwhile is not told again
    for (const stream of [this.listStream, this.stream]) if (stream) stream.now();
  }
  restUnseen() {
    this.listStream.rest();
    if (this.stream && !this.conversation.running) this.stream.rest();
  }

  // ---- which session ----

  route() {
    const m = /^#\/s\/([^@]+)(?:@(\d+))?$/.exec(location.hash); // @: an event to show
    const id = m ? decodeURIComponent(m[1]) : null;
    this.toggleSide(false);
    this.target = m && Number(m[2]);
    if (!id || id !== this.id || !this.target) this.open(id);
    else this.goTo();
  }
  open(id, along = false) {
    if (this.stream) this.stream.stop();
    clearTimeout(this.childTimer);
    Object.assign(this, {stream: null, row: null, id, events: [], firstSeq: 1, gone: null, connection: '', childTimer: null, conversation: new Conversation(), commandList: null});
    this.chat.clear();
    this.composer.switchTo(id, along);
    this.list.select(id);
    this.earlier.hidden = true;
    document.body.classList.toggle('no-session', !id);
    this.showAll();
    clearTimeout(this.loadTimer);
    if (id) this.loadTimer = setTimeout(() => this.chat.loading(true), 300);
    if (id) this.attach(this.conversation);
    if (!this.stepping && (!id || !matchMedia('(pointer: coarse)').matches)) this.composer.box.focus({preventScroll: true});
    this.stepping = false;
  }
  rowChanged(row, type) {
    this.list.update(row, type);
    if (row.id === this.id) this.showAll();
  }
  // Who leaves a session and comes back at once finds another conversation: this one is not for it.
  async attach(conversation) {
    try {
      const row = await api.get(this.path());
      const after = Math.max(0, (row.last_seq || 0) - FIRST_EVENTS);
      if (this.conversation !== conversation) return;
      this.row = row;
      this.firstSeq = after + 1;
      this.earlier.hidden = after === 0;
      this.conversation.lastSeq = after;
      const live = row.live || {};
      this.conversation.settings = {model: row.model, cwd: row.cwd, title: row.title, mode: live.permission_mode, thinking: live.thinking, parent: row.parent && {session: row.parent}};
      this.conversation.partial = after > 0;
      this.stream = new Stream(this.path('/events'), {after, onEvent: (e) => this.event(e),
        onState: (state, wait) => this.online(state, wait), onEnd: (error) => this.lost(error)});
    } catch (error) {
      if (this.conversation === conversation) this.lost(error);
    }
  }
  // It cannot be shown: say why in its place.
  lost(error) {
    if (error.status === 401) return this.signIn('The token is not valid any more.');
    if (error.status === 409 && this.conversation.lastSeq) return this.open(this.id); // the log is another one now: from its beginning
    clearTimeout(this.loadTimer);
    this.chat.loading(false);
    this.gone = error.status === 404 ? 'This session does not exist, or not any more.' : error.message;
    return this.showAll();
  }
  event(e) {
    if (this.loadTimer) {
      this.loadTimer = clearTimeout(this.loadTimer);
      this.chat.loading(false);
    }
    if (e.seq) this.events.push(e);
    this.chat.show(this.conversation, this.conversation.apply(e));
    if (e.seq && this.row && e.seq === this.row.last_seq) this.lookAfter(this.row);
    if (e.seq) this.tell(e);
    if (!this.frame) this.frame = requestAnimationFrame(() => { this.frame = null; this.showAll(); });
  }
  showAll() {
    const c = this.conversation;
    const asking = c.approvals.size;
    this.title.textContent = c.settings.title || (this.list.rows.get(this.id) || {}).title || cut(c.firstWords || '', 80) || (this.id ? 'Session' : 'New session');
    document.title = `${asking ? '(!) ' : c.running && !c.stands ? '● ' : ''}${this.title.textContent} · hob`;
    this.crumb.hidden = !c.settings.parent;
    if (c.settings.parent) this.crumb.href = `#/s/${encodeURIComponent(c.settings.parent.session)}`;
    this.composer.state({running: c.running, stopping: c.stopping, paused: c.paused, asking, mayRun: this.act.may('run')});
    this.composer.showQueue(c.queue);
    const tokens = tokensOf(c.usage);
    this.composer.info.textContent = !this.id ? '' : [(c.settings.model || '').split('/').pop(), c.settings.mode, tokens && !c.partial ? `${count(tokens)} tokens` : null, !c.partial && money(c.cost || null)].filter(Boolean).join(' · ');
    this.statusWord = c.lostRun ? 'unfinished' : asking ? 'waits for you' : c.stopping ? 'stopping' : c.paused ? (c.stands ? 'paused' : 'pausing') : c.running ? 'working' : '';
    this.drawStatus();
    this.drawQuestion();
    this.drawPause(!c.stands || asking > 0 || c.stopping);
    this.welcome.hidden = Boolean(this.id) && !this.gone;
    this.under.hidden = Boolean(this.id);
    this.menu.hidden = this.panelButton.hidden = !this.id || Boolean(this.gone);
    this.composer.node.hidden = Boolean(this.gone);
    if (!this.id) this.form.draw(this.list.folders());
    else if (this.gone) this.drawGone();
    this.watchChildren();
    this.panel.show(c);
    if (this.target && this.row && c.lastSeq >= this.row.last_seq) this.goTo();
  }
  // Where the conversation ends, as the way on is looked for there.
  drawPause(hidden) {
    if (this.pause.hidden === hidden) return;
    this.pause.hidden = hidden;
    this.chat.follow();
  }
  drawGone() {
    this.form.drawn = false;
    replace(this.welcome, icon('warn'), h('h2', this.gone), h('p.row.middle', h('button', {type: 'button', onclick: () => this.fresh()}, icon('plus'), 'New session'),
      h('button', {type: 'button', onclick: () => this.open(this.id)}, icon('retry'), 'Try again')));
  }
  drawStatus() {
    const c = this.conversation;
    const since = this.statusWord === 'working' && (c.runs.get(c.running) || {}).start;
    const word = this.connection || (since ? `working ${seconds(Date.now() - Date.parse(since))}` : this.statusWord);
    clearTimeout(this.clock);
    if (since) this.clock = setTimeout(() => this.drawStatus(), 1000);
    if (word === this.statusShown) return;
    this.statusShown = word;
    const again = this.connection && h('button.small', {type: 'button', onclick: () => this.lookedAt()}, 'Try now');
    replace(this.statusLine, word && h(`span.badge.${since && !this.connection ? 'live' : 'warn'}`, since && !this.connection && h('span.spinner'), h('span', word.split(', ')[0], h('span.not-phone', word.slice(word.split(', ')[0].length)))), again);
  }
  online(state, wait) {
    this.connection = state === 'waiting' ? `no connection, next try in ${Math.ceil(wait / 1000)} s` : '';
    this.drawStatus();
  }
  drawQuestion() {
    const first = this.conversation.approvals.size ? this.log.querySelector('.approval') : null;
    this.log.querySelectorAll('.approval').forEach((n) => n.classList.toggle('first', n === first)); // the one that keys answer
    if (!first) {
      this.toQuestion.hidden = true;
      return;
    }
    const box = first.getBoundingClientRect();
    const view = this.chat.scroller.getBoundingClientRect();
    this.toQuestion.hidden = box.bottom > view.top + 20 && box.top < view.bottom - 20;
    if (!this.toQuestion.hidden) this.toQuestion.textContent = `${plural(this.conversation.approvals.size, 'question')} for you`;
  }
  showQuestion() {
    const first = this.log.querySelector('.approval');
    this.chat.reveal(first.closest('article').dataset.key);
    first.querySelector('button')?.focus({preventScroll: true});
  }
  // For those who hear the page: what happened, not every word of it.
  tell(e) {
    if (this.stream && this.id !== this.madeHere && this.conversation.lastSeq <= (this.row || {}).last_seq) return; // it was so before
    const d = e.data || {};
    const words = {approval_requested: () => `${d.tool} waits for your answer: ${callTitle(d.args)}`, assistant_message: () => wordsOf(d.content) && `hob says: ${cut(wordsOf(d.content), 400)}`,
      run_finished: () => (d.status === 'completed' ? 'Done.' : `The run ended: ${d.status}.`), child_started: () => `${d.agent} begins.`}[e.type];
    if (words && words()) announce(words());
  }
}
