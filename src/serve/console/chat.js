// chat.js - the conversation. Each item has one node, each block of an answer its own; only what changed is made anew, once
// a frame. A text that grows is parsed from its last paragraph on (markdown.js).

class Chat {
  constructor(node, act) {
    this.node = node;
    this.act = act;
    this.scroller = node.closest('.scroll');
    this.scroller.addEventListener('scroll', () => this.noteScroll(), {passive: true});
    node.addEventListener('click', (event) => { if (event.target.closest('summary')) this.hold(); });
    const grown = new ResizeObserver(() => { // pictures that come, cards that open; what goes moves the view, and nobody scrolled
      this.follow();
      this.top = this.scroller.scrollTop;
    });
    grown.observe(node);
    grown.observe(this.scroller);
    this.clear();
  }
  clear() {
    this.nodes = new Map();
    this.parts = new Map();
    this.dirty = new Set();
    this.following = true;
    this.top = 0;
    this.loading(false);
    this.act.following(true);
    replace(this.node);
  }
  left() {
    return this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight;
  }
  // What somebody opens stays where it is, unless all of it is seen.
  hold() {
    this.following = false;
    setTimeout(() => { this.following = this.following || this.left() < 40; }, 100);
  }
  noteScroll() {
    const s = this.scroller;
    const left = this.left();
    if (s.scrollTop > this.top && left < 40) this.following = true;
    else if (s.scrollTop < this.top - 1 && left > 2) this.following = false; // however little: somebody reads there
    this.top = s.scrollTop;
    this.act.following(this.following || left < 60);
  }
  follow() {
    if (this.following) this.scroller.scrollTop = 1e9; // asking how far it is would lay out the page once more
    else this.noteScroll();
  }
  toEnd() {
    this.following = true;
    this.follow();
  }
  show(conversation, keys) {
    this.conversation = conversation;
    for (const key of keys) this.dirty.add(key);
    if (this.dirty.size && !this.frame) this.frame = requestAnimationFrame(() => this.draw());
  }
  draw() {
    this.frame = null;
    for (const key of this.dirty) this.drawItem(this.conversation.byKey.get(key));
    this.dirty.clear();
    this.follow();
    this.showForm();
    this.act.drawn();
  }
  // A form that is higher than the view is read from its beginning.
  showForm() {
    const form = this.node.querySelector('.question');
    if (form === this.form) return;
    this.form = form;
    const look = (frames) => { // as in prepend()
      if (this.form !== form || !this.following) return;
      if (form.closest('.card').offsetHeight > this.scroller.clientHeight - 60) {
        this.following = false;
        form.closest('.card').scrollIntoView({block: 'start'});
      } else if (frames) requestAnimationFrame(() => look(frames - 1));
    };
    if (form) look(4);
  }
  drawItem(item) {
    if (!item) return;
    let node = this.nodes.get(item.key);
    if (!node) {
      node = h('article', {data: {key: item.key}});
      this.nodes.set(item.key, node);
      this.place(item, node);
    }
    node.hidden = item.hidden;
    if (!item.hidden) this.makers[item.kind].call(this, item, node);
  }
  // Items come in order; one that is older than the last finds its place.
  place(item, node) {
    const items = this.conversation.items;
    if (items[items.length - 1] === item) return this.node.append(node);
    for (let i = items.indexOf(item) + 1; i < items.length; i++) {
      const next = this.nodes.get(items[i].key);
      if (next) return this.node.insertBefore(node, next);
    }
    return this.node.append(node);
  }
  // The conversation from further back: what is shown stays, what comes before it is added, and nothing moves.
  prepend(conversation) {
    const stays = this.node.querySelector('article:not([hidden])');
    const top = stays && stays.getBoundingClientRect().top;
    this.following = false;
    this.show(conversation, conversation.items.filter((item, i) => !this.nodes.has(item.key) || i > conversation.items.length - 20).map((item) => item.key));
    cancelAnimationFrame(this.frame);
    this.draw();
    const hold = (frames) => { // heights are guesses until what is near was drawn
      if (!stays || !stays.isConnected) return;
      this.scroller.scrollTop += stays.getBoundingClientRect().top - top;
      if (frames) requestAnimationFrame(() => hold(frames - 1));
    };
    hold(6);
  }
  loading(yes) {
    if (yes) this.node.dataset.loading = '';
    else delete this.node.dataset.loading;
    this.node.setAttribute('aria-busy', String(yes));
  }
  reveal(key) {
    const node = this.nodes.get(key);
    if (!node || node.hidden) return;
    this.following = false;
    const show = (frames) => { // as in prepend()
      node.scrollIntoView({block: 'center'});
      if (frames) requestAnimationFrame(() => show(frames - 1));
    };
    show(4);
    node.classList.add('found');
    setTimeout(() => node.classList.remove('found'), 1500);
  }

  // ---- blocks of answers ----

  part(key, make) {
    let part = this.parts.get(key);
    if (!part) this.parts.set(key, part = make());
    return part;
  }
  text(key, value) {
    const part = this.part(key, () => {
      const node = h('div.md');
      return {node, md: new Markdown(node)};
    });
    part.md.show(value);
    return part.node;
  }
  thoughts(key, value, thinking) {
    const part = this.part(key, () => {
      const label = h('summary');
      const body = h('div.md.thoughts');
      const made = {label, md: new Markdown(body), node: h('details.fold', {ontoggle: () => made.node.open && made.md.show(made.value)}, label, body)};
      return made;
    });
    part.value = value;
    if (part.node.open) part.md.show(value);
    const line = thinking ? value.slice(-90).replace(/^\S*\s/, '… ') : value.trim().split('\n')[0];
    replace(part.label, thinking ? h('span.spinner') : icon('spark'), h('b', thinking ? 'Thinking' : 'Thoughts'), h('span.about', line.replace(/[*_`#]/g, '')), icon('chevron'));
    return part.node;
  }
  block(item, block, i) {
    const key = `${item.key}/${i}/${block && block.type}`;
    if (!block) return null;
    if (block.type === 'text') return block.text ? this.text(key, block.text) : null;
    if (block.type === 'thinking') return block.text ? this.thoughts(key, block.text, item.streaming && i === item.blocks.length - 1) : null;
    if (block.type !== 'tool_call') return null;
    const call = this.conversation.call(block.call);
    return this.part(`card/${block.call}`, () => new Card(this.act)).show(call, block, this.conversation.children.get(call.childSession));
  }
}

// A long text is cut at some lines until somebody wants all of it.
function clamp(box) {
  box.classList.add('cut');
  const button = h('button.small', {type: 'button', onclick: () => { button.remove(); box.classList.remove('cut'); }}, 'Show all');
  box.append(button);
}

// Who speaks has a colour, the same in all of the page.
const speakers = new Map();
function labelled(name) {
  if (!speakers.has(name)) speakers.set(name, speakers.size % 6);
  return h(`span.who.w${speakers.get(name)}`, name);
}

// The agents of a workflow, each under the one that has it work.
function flowView(item) {
  const marks = {running: h('span.spinner'), completed: icon('check'), transferred: icon('chevron')};
  return h('ol', item.nodes.map((n) => h(`li.${n.status}.d${Math.min(5, n.depth)}`, {title: n.reason || n.status},
    (marks[n.status] || icon('warn')).cloneNode(true), n.kind === 'llm' ? labelled(n.agent) : h('b', n.agent),
    h('small', n.kind === 'llm' ? '' : n.kind, n.rounds > 1 && ` ${n.rounds} times`), h('span.took', n.status !== 'running' && duration(n.took)))));
}

Chat.prototype.makers = {
  user(item, node) {
    if (node.childNodes.length) return;
    node.className = 'user';
    const act = this.act;
    const words = wordsOf(item.content);
    const bubble = h('div.bubble', contentView(item.content, false));
    if (words.length > 2500 || words.split('\n').length > 30) clamp(bubble);
    replace(node, item.steer && h('span.label', 'said while it worked'), bubble,
      h('div.tools', h('time.label', {datetime: item.ts}, clock(item.ts)), copyButton('Copy', () => words), !item.steer && act.may('run') && iconButton('pencil', 'Change it and ask again', () => act.edit(item))));
  },
  report(item, node) {
    node.className = 'report';
    const text = h('div.md');
    new Markdown(text).show(wordsOf(item.content));
    replace(node, h('p.label', labelled(item.agent), ' is done'), h('details.card', h('summary', icon('people'), h('span.tool', 'report'), h('span.about', cut(wordsOf(item.content), 120)), icon('chevron')), h('div.card-body.padded', text)));
  },
  answer(item, node) {
    node.className = `answer${item.discarded ? ' discarded' : ''}${item.streaming && !item.waiting ? ' growing' : ''}`;
    const kids = item.blocks.map((block, i) => this.block(item, block, i));
    const head = item.agent && this.part(`${item.key}/head`, () => ({node: h('p.label', labelled(item.agent))})).node;
    const shown = kids.some(Boolean);
    const words = item.streaming && item.waiting ? 'wait' : item.discarded ? shown && 'old' : item.stop;
    const foot = this.part(`${item.key}/foot/${words}`, () => ({node: footOf(words)})).node;
    const text = !item.streaming && item.stop === 'done' && wordsOf(item.blocks);
    const tools = text && this.part(`${item.key}/tools`, () => ({node: h('div.tools', copyButton('Copy as Markdown', () => text))})).node;
    keep(node, [head, kids, foot, tools]);
    node.hidden = item.hidden || (!shown && !foot);
  },
  question(item, node) {
    node.className = 'answer';
    const call = this.conversation.call(item.call);
    keep(node, [this.part(item.key, () => new Card(this.act)).show(call, {name: call.tool, args: call.args})]);
    node.hidden = item.hidden || call.state !== 'asking';
  },
  flow(item, node) {
    node.className = 'flow';
    replace(node, flowView(item));
  },
  remark(item, node) {
    node.className = `remark ${item.level}`;
    node.hidden = item.hidden || Boolean(item.told);
    const act = this.act;
    replace(node, icon(item.level === 'warn' ? 'warn' : 'dots'), h('span', visible(item.text), ' ', item.back && act.may('run') && h('button.small', {type: 'button', onclick: () => act.putBack(item.back)}, 'Put it back')));
  },
  run(item, node) {
    const good = item.status === 'completed' || item.status === 'cancelled' || item.continued;
    node.className = `runend ${item.status}${good ? '' : ' trouble'}`;
    const words = {completed: 'Done', failed: 'Failed', cancelled: 'Stopped', interrupted: item.continued ? 'Interrupted, and continued' : 'Interrupted', limit: 'Stopped at a limit'};
    const tokens = tokensOf(item.usage);
    const facts = [took(item), item.turns && plural(item.turns, 'turn'), item.toolCalls && plural(item.toolCalls, 'call'),
      tokens ? `${count(tokens)} tokens` : null, tokens ? money(item.cost) : null, clock(item.ts)].filter(Boolean).join(' · ');
    const head = [icon({completed: 'check', cancelled: 'stop', interrupted: 'pause'}[item.status] || 'warn'), h('b', words[item.status] || item.status), h('span', facts)];
    if (good) return replace(node, head);
    const act = this.act;
    return replace(node, h('div.row', head), item.error && h('p.error', visible(item.error.message || item.error.code)), h('p', adviceFor(item)),
      act.may('run') && h('div.row', item.status === 'interrupted' ? h('button.primary.small', {type: 'button', onclick: () => act.resume(item.run)}, icon('play'), 'Continue')
        : item.status === 'failed' && item.content && h('button.small', {type: 'button', onclick: () => act.again(item)}, icon('retry'), 'Try again')));
  },
};

function footOf(words) {
  if (words === 'wait') return h('div.waiting', h('span.dots', h('i'), h('i'), h('i')), 'waiting for the model');
  const texts = {aborted: 'Stopped here.', length: 'The answer was cut at its length limit.', refusal: 'The model refused.', old: 'Not part of the conversation.'};
  return texts[words] ? h('p.hint', texts[words]) : null;
}
