// panel.js - the side that explains: timeline of a run, agents, state, branches, usage.

const KINDS = {run: 'Run', model: 'Model', tool: 'Tool', wait: 'Wait', child: 'Sub-agent', agent: 'Agent'};

class Panel {
  constructor(node, act) {
    this.node = node;
    this.act = act;
    this.tab = 'timeline';
    this.tabs = h('div.tabs', {role: 'tablist', 'aria-label': 'Details'});
    this.body = h('div.panel-body', {role: 'tabpanel', tabindex: 0});
    replace(node, h('div.panel-head', this.tabs, iconButton('close', 'Close details', () => act.closePanel())), this.body);
    this.names = {timeline: 'Timeline', agents: 'Agents', state: 'State', tree: 'Branches', usage: 'Usage'};
    for (const [key, name] of Object.entries(this.names))
      this.tabs.append(h('button', {type: 'button', role: 'tab', data: {tab: key}, onclick: () => this.select(key)}, name));
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
    for (const button of this.tabs.children) {
      const on = button.dataset.tab === tab;
      button.setAttribute('aria-selected', on);
      button.tabIndex = on ? 0 : -1;
    }
    this.draw(true);
  }
  show(conversation) {
    this.conversation = conversation;
    if (!this.timer) this.timer = setTimeout(() => { this.timer = null; this.draw(false); }, 250);
  }
  draw(anew) {
    if (this.node.hidden && !anew) return;
    if (!this.conversation) return replace(this.body, h('p.hint', 'No session is open.'));
    this.views[this.tab].call(this, this.body, this.conversation, anew);
  }
}

function runChoice(panel, runs) {
  const chosen = panel.run && runs.some((r) => r.id === panel.run) ? panel.run : runs[runs.length - 1].id;
  const select = h('select', {'aria-label': 'Run', onchange: () => { panel.run = select.value; panel.draw(true); }},
    runs.map((r, i) => h('option', {value: r.id, selected: r.id === chosen}, `Run ${i + 1} · ${r.status}${r.duration ? ` · ${duration(r.duration)}` : ''}`)));
  return [select, chosen];
}

// The waterfall: one row a span, its bar placed by per cent of the run.
function waterfall(spans, now) {
  const start = Math.min(...spans.map((s) => s.start));
  const end = Math.max(...spans.map((s) => s.end || now), start + 1);
  const percent = (ms) => (100 * (ms - start)) / (end - start);
  return h('ol.waterfall', spans.map((span) => {
    const bar = h(`div.bar.${span.kind}`, {data: {status: span.status}});
    const to = span.end || now;
    bar.style.left = `${Math.min(99.5, percent(span.start))}%`;
    bar.style.width = `${Math.max(0.5, percent(to) - percent(span.start))}%`;
    const title = `${KINDS[span.kind]} ${span.name}: ${duration(to - span.start)}, begins after ${duration(span.start - start)}, ${span.status}`;
    return h('li', {title}, h('span.name', span.agent && span.kind !== 'agent' && h('small', `${span.agent} `), span.name.split('/').pop()),
      h('span.track', bar), h('span.time', duration(to - span.start)));
  }));
}

Panel.prototype.views = {
  timeline(body, c) {
    const runs = [...c.runs.values()];
    if (!runs.length) return replace(body, h('p.hint', 'A run shows its model calls, tools and waits here.'));
    const [select, chosen] = runChoice(this, runs);
    const spans = c.spans.filter((s) => s.run === chosen);
    const legend = h('p.legend', Object.entries(KINDS).filter(([k]) => spans.some((s) => s.kind === k)).map(([k, name]) => h(`span.${k}`, name)));
    replace(body, select, legend, waterfall(spans, Date.now()));
    if (c.running === chosen) this.show(c);
  },
  agents(body, c) {
    const children = [...c.children.values()].reverse();
    const rows = children.map((child) => h(`li.child.${child.status}`,
      h('div', h('strong', child.agent), ' ', h(`span.badge.${child.status === 'running' ? 'live' : child.status === 'completed' ? 'ok' : 'bad'}`, child.status)),
      h('p', cut(child.prompt || '', 200)),
      child.live && h('p.hint', child.live),
      child.text && h('p.hint', cut(child.text, 200)),
      h('div.row', h('a', {href: `#/s/${encodeURIComponent(child.child)}`}, 'Open'),
        child.status === 'running' && h('button.small', {type: 'button', onclick: () => this.act.stopChild(child.child)}, 'Stop'))));
    replace(body, rows.length ? h('ul.children', rows) : h('p.hint', 'Sub-agents that work for this session are shown here.'));
  },
  state(body, c, anew) {
    if (!anew && this.stateAt === c.stateRevision && this.stateOf === c) return;
    this.stateAt = c.stateRevision;
    this.stateOf = c;
    this.act.state().then((state) => {
      const keys = Object.keys(state).sort();
      replace(body, keys.length ? h('dl.state', keys.map((key) => [h('dt', key), h('dd', h('pre', JSON.stringify(state[key], null, 2)))]))
        : h('p.hint', 'No state yet. Tools and agents keep values here; app: and user: ones are shared with other sessions.'));
    }, (error) => replace(body, h('p.error', error.message)));
  },
  tree(body, c) {
    const kids = new Map();
    for (const e of c.entries.values()) kids.set(e.parent, [...(kids.get(e.parent) || []), e]);
    const path = new Set();
    for (let at = c.leaf; at; at = (c.entries.get(at) || {}).parent) path.add(at);
    if (!c.entries.size) return replace(body, h('p.hint', 'The conversation has no messages yet.'));
    const roots = [...c.entries.values()].filter((e) => !c.entries.has(e.parent));
    replace(body, branchList(roots, kids, path, this.act));
  },
  usage(body, c) {
    const u = c.usage;
    const rows = [['Input', u.input_tokens], ['Read from cache', u.cache_read_tokens], ['Written to cache', u.cache_write_tokens],
      ['Output', u.output_tokens], ['of it reasoning', u.reasoning_tokens]];
    replace(body, h('table.numbers', h('tbody', rows.map(([name, n]) => h('tr', h('th', {scope: 'row'}, name), h('td', n.toLocaleString()))),
      h('tr', h('th', {scope: 'row'}, 'Cost'), h('td', money(c.cost) || 'unknown price')))),
    h('h3', 'Settings'), h('table.numbers', h('tbody', Object.entries({Model: c.settings.model, Thinking: c.settings.thinking,
      Permissions: c.settings.mode, Agent: c.settings.agent, Folder: c.settings.cwd}).filter(([, v]) => v)
      .map(([k, v]) => h('tr', h('th', {scope: 'row'}, k), h('td', v))))));
  },
};

// A chain stays flat; only where the conversation parted does it indent.
function branchList(entries, kids, path, act) {
  return h('ul.tree', entries.map((start) => {
    const rows = [];
    let at = start;
    for (;;) {
      rows.push(entryRow(at, path, act));
      const next = kids.get(at.entry) || [];
      if (next.length !== 1) {
        return h('li', rows, next.length > 1 && branchList(next, kids, path, act));
      }
      [at] = next;
    }
  }));
}

function entryRow(e, path, act) {
  const on = path.has(e.entry);
  return h(`div.entry.${e.role}${on ? '.active' : ''}`, {title: e.text},
    h('span.who', e.role === 'user' ? 'You' : 'hob'), h('span', cut(e.text || '…', 90)),
    iconButton('fork', 'Go on from here', () => act.move(e)));
}
