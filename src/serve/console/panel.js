// panel.js - the side that explains: timeline of a run, agents, state, branches, what the session is and used.

class Panel {
  constructor(node, act) {
    this.node = node;
    this.act = act;
    this.tab = 'timeline';
    this.tabs = h('div.tabs', {role: 'tablist', 'aria-label': 'Details'});
    this.body = h('div.panel-body', {role: 'tabpanel', id: 'details', tabindex: 0});
    replace(node, h('div.panel-head', this.tabs, h('div.row.tight', iconButton('wide', 'Wider', () => node.classList.toggle('broad'), {class: 'icon not-phone'}), iconButton('close', 'Close details', () => act.closePanel()))), this.body);
    this.names = {timeline: 'Timeline', agents: 'Agents', state: 'State', tree: 'Branches', usage: 'Session'};
    for (const [key, name] of Object.entries(this.names))
      this.tabs.append(h('button', {type: 'button', role: 'tab', id: `tab-${key}`, 'aria-controls': 'details', data: {tab: key}, onclick: () => this.select(key)}, name));
    this.tabs.addEventListener('keydown', (event) => this.keys(event));
    this.select(this.tab);
  }
  keys(event) {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!step) return;
    const all = Object.keys(this.names);
    this.select(all[(all.indexOf(this.tab) + step + all.length) % all.length]);
    this.tabs.querySelector('[aria-selected=true]').focus();
  }
  select(tab) {
    this.tab = tab;
    this.body.setAttribute('aria-labelledby', `tab-${tab}`);
    for (const button of this.tabs.children) {
      const on = button.dataset.tab === tab;
      button.setAttribute('aria-selected', on);
      button.tabIndex = on ? 0 : -1;
    }
    this.draw(true);
  }
  show(conversation) {
    if (conversation !== this.conversation) this.run = this.allRows = null;
    this.conversation = conversation;
    const tab = this.tabs.querySelector('[data-tab=agents]');
    const busy = [...conversation.children.values()].filter((child) => child.status === 'running').length;
    if (tab.dataset.count !== String(busy || '')) tab.dataset.count = busy || '';
    if (!this.timer) this.timer = setTimeout(() => { this.timer = null; this.draw(false); }, 250);
  }
  draw(anew) {
    if (this.node.hidden && !anew) return;
    if (this.tab === 'usage' && this.body.contains(document.activeElement) && document.activeElement.matches('select') && !anew) return; // somebody chooses
    if (!this.conversation) return;
    this.views[this.tab].call(this, this.body, this.conversation, anew);
  }
  // Nodes are made anew, but not while nothing changed, and what is scrolled or focused stays so.
  put(key, ...children) {
    if (key !== null && key === this.drawnKey) return;
    this.drawnKey = key;
    const top = this.body.scrollTop;
    const focused = this.body.contains(document.activeElement) && document.activeElement.dataset.span;
    keep(this.body, children);
    this.body.scrollTop = top;
    if (focused) this.body.querySelector(`[data-span="${CSS.escape(focused)}"]`)?.focus({preventScroll: true});
  }
}

function emptyView(name, title, hint) {
  return h('div.empty', icon(name), h('p', title), h('p.hint', hint));
}

Panel.prototype.views = {
  timeline(body, c, anew) {
    this.put(anew || c.running ? null : `t${c.lastSeq}`, timelineView(this, c));
    if (c.running) this.show(c);
  },
  agents(body, c, anew) {
    const children = [...c.children.values()].reverse();
    const flow = c.items.filter((item) => item.kind === 'flow').pop();
    if (!children.length && flow) return this.put(anew ? null : `f${c.lastSeq}`, h('h2', 'Agents of the workflow'), h('div.flow', flowView(flow)));
    if (!children.length) return this.put('a0', emptyView('people', 'No sub-agents.', 'When hob hands work to others, each is shown here while it works, and can be stopped.'));
    return this.put(anew ? null : `a${JSON.stringify(children.map((x) => [x.child, x.status, x.asks, x.live]))}`, h('ul.children', children.map((child) => h('li',
      h('div.row', labelled(child.agent), child.background && h('span.hint', 'in the background')), h('p', cut(child.prompt || '', 300)), childStrip(child, this.act)))));
  },
  state(body, c, anew) {
    const key = `s${c.stateRevision}/${this.act.session()}`;
    if (key === this.drawnKey && !anew) return;
    this.drawnKey = key;
    Promise.all([this.act.state(), this.act.artifacts()]).then(([state, artifacts]) => this.tab === 'state' && this.drawnKey === key && replace(body, stateView(state, c.stateTouched, artifacts.length), artifactList(artifacts, this.act)), (error) => replace(body, h('p.error', error.message)));
  },
  tree(body, c, anew) {
    if (!c.entries.size) return this.put('b0', emptyView('fork', 'No messages yet.', 'Every message is kept here, also those of branches that you left. From each you can go on.'));
    const kids = new Map();
    for (const e of c.entries.values()) kids.set(e.parent, [...(kids.get(e.parent) || []), e]);
    const path = new Set();
    for (let at = c.leaf; at; at = (c.entries.get(at) || {}).parent) path.add(at);
    const roots = [...c.entries.values()].filter((e) => !c.entries.has(e.parent));
    const view = {path, leaf: c.leaf, act: this.act};
    return this.put(anew ? null : `b${c.entries.size}/${c.leaf}`, c.partial && h('p.hint', 'Only the newer part is loaded: scroll up in the conversation for more.'), roots.length > 1 ? h('div.tree', partedList(roots, kids, view)) : branchList(roots, kids, view));
  },
  usage(body, c, anew) {
    this.put(anew ? null : `u${c.lastSeq}`, sessionView(c, this.act));
  },
};

// ---- state ----

function stateView(state, touched, quiet) {
  const keys = Object.keys(state);
  if (!keys.length) return !quiet && emptyView('file', 'No state yet.', 'Tools, agents and programs keep values here. Those that begin with app: or user: are shared with other sessions.');
  const scopes = [['This session', (k) => !/^(app|user):/.test(k)], ['user: all sessions of this user', (k) => k.startsWith('user:')], ['app: all sessions', (k) => k.startsWith('app:')]];
  return scopes.map(([title, test]) => {
    const own = keys.filter(test).sort();
    return own.length > 0 && [h('h2', title), h('dl.state', own.map((key) => [h('dt', key, touched.has(key) && h('span.badge.live', 'changed')), h('dd', valueView(state[key]))]))];
  });
}

function artifactList(rows, act) {
  return rows.length > 0 && [h('h2', 'Artifacts'), h('table.numbers', h('tbody', rows.map((a) => h('tr', h('th', {scope: 'row'}, a.name), h('td', `version ${a.version}`), h('td', bytesOf(a.size)),
    h('td', h('button.small', {type: 'button', onclick: () => act.download(a)}, icon('down'), 'Save'))))))];
}

function valueView(value) {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return h('pre', {tabindex: 0}, typeof value === 'string' ? visible(cut(text, 20000)) : highlight(visible(cut(text, 20000)), 'json'));
}

// ---- branches: a chain stays flat; only where the conversation parted does it indent ----

function branchList(entries, kids, view) {
  return h('ul.tree', entries.map((start) => {
    const rows = [];
    let at = start;
    for (;;) {
      rows.push(entryRow(at, view));
      const next = kids.get(at.entry) || [];
      if (next.length !== 1) return h('li', rows, next.length > 1 && partedList(next, kids, view));
      [at] = next;
    }
  }));
}

// Where it parted, also at its very beginning.
function partedList(entries, kids, view) {
  return [h('div.parted', icon('fork'), `${entries.length} versions`), branchList(entries, kids, view)];
}

function entryRow(e, {path, leaf, act}) {
  return h(`div.entry.${e.role}${path.has(e.entry) ? '.active' : ''}`, {title: cut(e.text || '', 400)},
    h('span.who', e.role === 'user' ? 'You' : 'hob'), h('span.words', cut(e.text || '…', 90)), e.label && h('span.badge', e.label),
    e.entry === leaf ? h('span.badge.live', 'here') : act.may('run') && iconButton('fork', 'Go on from here', () => act.move(e)));
}

// ---- what the session is, and used ----

function sessionView(c, act) {
  const u = c.usage;
  const rows = [['Input', u.input_tokens], ['Read from cache', u.cache_read_tokens], ['Written to cache', u.cache_write_tokens], ['Output', u.output_tokens], ['of it reasoning', u.reasoning_tokens]];
  const line = (name, value) => h('tr', h('th', {scope: 'row'}, name), h('td', value));
  const s = c.settings;
  const runs = [...c.runs.values()].reverse().slice(0, 50);
  const window = act.windowOf(s.model);
  return [c.partial && h('p.hint', 'Only the newer part of this session is loaded: numbers are of that part. Scroll up for more.'), h('div.tiles', h('div', h('b', count(tokensOf(u))), h('span', 'tokens')), h('div', h('b', tokensOf(u) ? money(c.cost) || '–' : '$0.00'), h('span', c.cost === null ? 'price not known' : 'cost')),
    h('div', h('b', count(c.runs.size)), h('span', c.runs.size === 1 ? 'run' : 'runs'))),
  c.context > 0 && window > 0 && [h('h2', 'Context'), h('meter', {min: 0, max: window, high: window * 0.8, value: c.context, 'aria-label': 'Context used'}), h('p.hint', `${count(c.context)} of ${count(window)} tokens in the last request`)],
  h('h2', 'Tokens'), h('table.numbers', h('tbody', rows.filter(([, n]) => n).map(([name, n]) => line(name, n.toLocaleString('en'))))),
  h('h2', 'Settings'), h('table.numbers', h('tbody', line('Model', act.may('run') ? act.modelSelect(s.model) : s.model), line('Thinking', act.may('run') ? act.thinkingSelect(s.thinking) : s.thinking || 'default'),
    s.mode && line('Permissions', act.may('run') && modesUpTo(act.mostMode()).includes(s.mode) ? act.modeSelect(s.mode) : s.mode),
    [['Agent', s.agent], ['Folder', s.cwd], ['Id', act.session()]].filter(([, v]) => v).map(([k, v]) => line(k, v)))),
  runs.length > 0 && [h('h2', 'Runs'), h('table.numbers.runs', h('tbody', runs.map((r) => h('tr', h('th', {scope: 'row'}, cut(wordsOf(r.content) || r.origin || 'run', 40)),
    h('td', {title: r.duration !== undefined && took(r)}, r.duration !== undefined ? duration(r.inAll || r.duration) : r.status), h('td', `${count(tokensOf(r.usage))} tokens`), h('td', money(r.cost) || '')))))]];
}
