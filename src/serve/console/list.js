// list.js - the sessions, newest first, with what each does now.

const STATES = {running: ['live', 'running'], parked: ['warn', 'waits'], interrupted: ['warn', 'unfinished'], idle: [null, '']};

class SessionList {
  constructor(node, act) {
    this.act = act;
    this.rows = new Map();
    this.selected = null;
    this.search = h('input', {type: 'search', placeholder: 'Search sessions', 'aria-label': 'Search sessions',
      oninput: () => { clearTimeout(this.timer); this.timer = setTimeout(() => this.find(), 200); this.draw(); }});
    this.found = new Map(); // session -> what was found in it, beyond its title
    this.list = h('ul.sessions', {'aria-label': 'Sessions'});
    this.more = h('button.small', {type: 'button', hidden: true, onclick: () => this.load(this.next)}, 'Older sessions');
    replace(node, h('div.list-head', this.search), this.list, this.more);
    this.list.addEventListener('keydown', (event) => this.keys(event));
  }
  keys(event) {
    const step = {ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling'}[event.key];
    const item = step && event.target.closest('li');
    if (!item || !item[step]) return;
    item[step].querySelector('a').focus();
    event.preventDefault();
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
    else this.rows.set(row.id, {...this.rows.get(row.id), ...row});
    if (!this.frame) this.frame = requestAnimationFrame(() => { this.frame = null; this.draw(); });
    return null;
  }
  select(id) {
    this.selected = id;
    this.draw();
  }
  draw() {
    const focused = document.activeElement && document.activeElement.closest('.sessions li');
    const id = focused && focused.dataset.id;
    const words = this.search.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    for (const hit of this.found.values())
      if (!this.rows.has(hit.session)) this.rows.set(hit.session, {id: hit.session, title: hit.title, cwd: hit.cwd, state: 'idle', updated: hit.time, parent: hit.parent});
    const fits = (row) => this.found.has(row.id) || words.every((w) => `${row.title || ''} ${row.id} ${row.cwd || ''} ${row.model || ''}`.toLowerCase().includes(w));
    const rows = [...this.rows.values()].filter(fits).sort((a, b) => (a.updated < b.updated ? 1 : -1));
    replace(this.list, rows.map((row) => this.row(row)));
    if (!rows.length) this.list.append(h('li.empty', this.search.value.trim() ? 'Nothing found.' : 'No sessions yet.'));
    if (id) this.list.querySelector(`[data-id="${CSS.escape(id)}"] a`)?.focus();
  }
  row(row) {
    const [tone, word] = STATES[row.state] || [null, row.state];
    return h('li', {data: {id: row.id, state: row.state || ''}},
      h('a', {href: `#/s/${encodeURIComponent(row.id)}`, 'aria-current': row.id === this.selected ? 'page' : null},
        h('span.title', row.title || 'Untitled'),
        this.found.has(row.id) && h('span.snippet', this.found.get(row.id).snippet),
        h('span.meta', tone && h(`span.dot.${tone}`, {title: word}), word && `${word} · `, ago(row.updated))));
  }
}
