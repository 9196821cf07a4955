// list.js - the sessions, the last changed first, with what each does now. A row stays the same node while it is listed.

const STATES = {running: ['live', 'at work'], parked: ['warn', 'waits for you'], interrupted: ['warn', 'unfinished'], idle: [null, '']};

// One that waits for somebody needs no process: whoever answers opens it.
const isAbandoned = (row) => row.state === 'running' && !row.owner && !row.live;

function dayOf(iso, now = new Date()) {
  const days = Math.floor((new Date(now).setHours(0, 0, 0, 0) - new Date(iso).setHours(0, 0, 0, 0)) / 86400000);
  return days <= 0 ? 'Today' : days === 1 ? 'Yesterday' : days < 7 ? 'This week' : days < 31 ? 'This month' : 'Earlier';
}

class SessionList {
  constructor(node, act) {
    this.act = act;
    this.rows = new Map();
    this.nodes = new Map();
    this.selected = null;
    this.asked = new Map(); // session -> {seq, n}: at this event n questions waited
    this.search = h('input', {type: 'search', placeholder: 'Search', 'aria-label': 'Search sessions', onkeydown: (e) => this.searchKeys(e),
      oninput: () => { clearTimeout(this.timer); this.timer = setTimeout(() => this.find(), 200); this.draw(); }});
    this.found = new Map(); // session -> what was found in it, beyond its title
    this.list = h('ul.sessions', {'aria-label': 'Sessions'});
    this.more = h('button.small', {type: 'button', hidden: true, onclick: () => this.load(this.next)}, 'Older sessions');
    replace(node, h('div.list-head', icon('search'), this.search, h('kbd', '/')), this.list, this.more);
    this.list.addEventListener('keydown', (event) => this.keys(event));
    setInterval(() => this.draw(), 60000); // "3 min" grows
  }
  keys(event) {
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    const all = [...this.list.querySelectorAll('a')];
    const next = step && all[all.indexOf(event.target.closest('a')) + step];
    if (!next) return;
    next.focus();
    this.tabStop(next);
    event.preventDefault();
  }
  // Tab stops once at the list; arrows go on in it.
  tabStop(link) {
    const all = [...this.list.querySelectorAll('a')];
    const at = all.includes(link) ? link : all[0];
    for (const one of all) one.tabIndex = one === at ? 0 : -1;
  }
  searchKeys(event) {
    if (event.key === 'ArrowDown') this.list.querySelector('a')?.focus();
    else if (event.key === 'Enter') this.list.querySelector('a')?.click();
    else return;
    event.preventDefault();
  }
  step(by) {
    const all = [...this.list.querySelectorAll('li[data-id]')];
    const at = all.findIndex((n) => n.dataset.id === this.selected);
    (all[at + by] || all[0])?.querySelector('a').click();
  }
  async load(cursor) {
    const query = new URLSearchParams({limit: 50});
    if (cursor) query.set('cursor', cursor);
    try {
      const page = await api.get(`/api/sessions?${query}`);
      if (!cursor) this.rows.clear();
      for (const row of page.sessions) this.rows.set(row.id, row);
      this.next = page.next;
      this.more.hidden = !page.next;
      this.loaded = true;
      this.draw();
    } catch (error) {
      this.act.fail(error);
    }
  }
  // What was said in sessions, by the server's index.
  async find() {
    const words = this.search.value.trim();
    this.found.clear();
    if (!words) return this.draw();
    try {
      const page = await api.get(`/api/search?${new URLSearchParams({q: words, limit: 50})}`);
      if (words !== this.search.value.trim()) return null;
      for (const hit of page.matches) if (!this.found.has(hit.session)) this.found.set(hit.session, hit);
      return this.draw();
    } catch (error) {
      return this.act.fail(error);
    }
  }
  // A row that changed, from the stream of all sessions.
  update(row, type) {
    if (type === 'reset') return this.load();
    if (type === 'removed') this.rows.delete(row.id);
    else if (row.parent) return null;
    else this.rows.set(row.id, {...this.rows.get(row.id), owner: undefined, ...row});
    if (!this.frame) this.frame = requestAnimationFrame(() => { this.frame = null; this.draw(); });
    return null;
  }
  select(id) {
    this.selected = id;
    this.draw();
    this.nodes.get(id)?.node.scrollIntoView({block: 'nearest'});
  }
  folders() {
    return [...new Set([...this.rows.values()].map((r) => r.cwd).filter(Boolean))].slice(0, 20);
  }
  draw() {
    const words = this.search.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    const others = [...this.found.values()].filter((hit) => !this.rows.has(hit.session))
      .map((hit) => ({id: hit.session, title: hit.title, cwd: hit.cwd, state: 'idle', updated: hit.time, parent: hit.parent}));
    const fits = (row) => this.found.has(row.id) || words.every((w) => `${row.title || ''} ${row.id} ${row.cwd || ''} ${row.model || ''}`.toLowerCase().includes(w));
    const rows = [...this.rows.values(), ...others].filter(fits).sort((a, b) => (a.updated < b.updated ? 1 : -1));
    const lines = [];
    let day = null;
    const waits = (row) => row.state === 'parked';
    for (const row of [...rows.filter(waits), ...rows.filter((r) => !waits(r))]) {
      const group = waits(row) ? 'Waiting for you' : dayOf(row.updated);
      if (group !== day) lines.push(this.heading(day = group));
      lines.push(this.row(row, words));
    }
    if (!rows.length && this.loaded) lines.push(h('li.empty', words.length ? ['Nothing found. Search looks for all words, in titles and in what was said.'] : ['No sessions yet. Write what shall be done: that makes the first one.']));
    const focused = this.list.contains(document.activeElement) && document.activeElement;
    keep(this.list, lines);
    this.tabStop(focused && focused.isConnected ? focused : (this.nodes.get(this.selected) || {}).link);
    if (focused && focused.isConnected && document.activeElement !== focused) focused.focus();
  }
  // A run that is parked and asks nothing is paused. Rows do not say so: what it asks is looked up once.
  isPaused(row) {
    const had = this.asked.get(row.id) || {};
    if (had.seq !== row.last_seq) {
      const now = {seq: row.last_seq, n: had.n};
      this.asked.set(row.id, now);
      this.act.asked(row.id).then((n) => { now.n = n; this.draw(); }, () => { now.seq = null; });
    }
    return this.asked.get(row.id).n === 0;
  }
  heading(day) {
    let had = this.nodes.get(`/${day}`);
    if (!had) this.nodes.set(`/${day}`, had = {node: h('li.day', day)});
    return had.node;
  }
  row(row, words) {
    const state = isAbandoned(row) ? 'interrupted' : row.state;
    const [tone, word] = state === 'parked' && this.isPaused(row) ? ['warn', 'paused'] : STATES[state] || [null, state];
    const more = [this.folderOf(row), row.parent && 'sub-agent', row.messages === 0 && state === 'idle' && 'empty'].filter(Boolean).join(' · ');
    const hit = this.found.get(row.id);
    const current = row.id === this.selected;
    const time = ago(row.updated);
    const key = [row.title, state, word, time, more, row.messages, hit && hit.snippet, words.join(), current].join('\u0000');
    let had = this.nodes.get(row.id);
    if (!had) this.nodes.set(row.id, had = {link: h('a')}), had.node = h('li', {data: {id: row.id}}, had.link);
    if (had.key === key) return had.node;
    had.key = key;
    had.node.dataset.state = state || '';
    had.link.href = `#/s/${encodeURIComponent(row.id)}${hit && hit.seq ? `@${hit.seq}` : ''}`;
    if (current) had.link.setAttribute('aria-current', 'page');
    else had.link.removeAttribute('aria-current');
    const said = word && word !== STATES.parked[1]; // those that wait stand together, under these words
    had.link.title = [row.title || 'Untitled', [word, row.messages && plural(row.messages, 'message'), row.cwd].filter(Boolean).join(' · '), new Date(row.updated).toLocaleString()].filter(Boolean).join('\n');
    replace(had.link, h('span.title', tone && h(`span.dot.${tone}`), h('span.text', row.title || 'Untitled'), word && !said && h('span.sr', word),
      said ? h('span.time', {data: {tone}}, word) : h('time.time', {datetime: row.updated}, time)),
    hit && h('span.snippet', marked((hit.snippet || '').replace(/[*`#]+/g, ''), words)), more && h('span.meta', more));
    return had.node;
  }
  // Where it works, if not all work in the same folder.
  folderOf(row) {
    return row.cwd && this.folders().length > 1 ? row.cwd.split('/').filter(Boolean).pop() : null;
  }
}

function marked(text, words) {
  const at = words.length ? text.toLowerCase().indexOf(words[0]) : -1;
  if (at < 0) return text;
  return [text.slice(0, at), h('mark', text.slice(at, at + words[0].length)), text.slice(at + words[0].length)];
}
