// chat.js - the conversation. Each item has one node; only what changed is made anew, once a frame.

class Chat {
  constructor(node, act) {
    this.node = node;
    this.act = act;
    this.opened = new Map(); // what the reader unfolded or folded, by key
    this.clear();
    node.addEventListener('toggle', (event) => {
      const key = event.target.dataset && event.target.dataset.fold;
      if (key && !this.drawing) this.opened.set(key, event.target.open);
    }, true);
    this.scroller = node.closest('.scroll');
    this.scroller.addEventListener('scroll', () => this.noteScroll(), {passive: true});
  }
  clear() {
    this.nodes = new Map();
    this.texts = new Map();
    this.dirty = new Set();
    this.following = true;
    replace(this.node);
  }
  noteScroll() {
    const s = this.scroller;
    this.following = s.scrollHeight - s.scrollTop - s.clientHeight < 60;
    this.act.following(this.following);
  }
  toEnd() {
    this.following = true;
    this.scroller.scrollTop = this.scroller.scrollHeight;
  }
  show(conversation, keys) {
    this.conversation = conversation;
    for (const key of keys) this.dirty.add(key);
    if (!this.frame) this.frame = requestAnimationFrame(() => this.draw());
  }
  draw() {
    this.frame = null;
    this.drawing = true;
    for (const key of this.dirty) this.drawItem(this.conversation.byKey.get(key));
    this.dirty.clear();
    if (this.following) this.scroller.scrollTop = this.scroller.scrollHeight;
    setTimeout(() => { this.drawing = false; });
  }
  drawItem(item) {
    if (!item) return;
    let node = this.nodes.get(item.key);
    if (!node) {
      node = h('article');
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
  markdown(key, className, value) {
    let shown = this.texts.get(key);
    if (!shown) {
      const node = h(className);
      this.texts.set(key, shown = {node, md: new Markdown(node)});
    }
    shown.md.show(value);
    return shown.node;
  }
  fold(key, open, summary, ...body) {
    return h('details.fold', {open: this.opened.get(key) ?? open, data: {fold: key}}, h('summary', summary), body);
  }
  block(item, block, i) {
    const key = `${item.key}/${i}`;
    if (!block) return null;
    if (block.type === 'text') return block.text && this.markdown(key, 'div.md', block.text);
    if (block.type === 'thinking') {
      if (!block.text) return null;
      const thinking = item.streaming && i === item.blocks.length - 1;
      return this.fold(key, false, [thinking && h('span.spinner'), thinking ? 'Thinking…' : 'Thoughts'],
        this.markdown(key, 'div.md.thoughts', block.text));
    }
    if (block.type !== 'tool_call') return null;
    const card = callCard(this.conversation.call(block.call), block, this.act, this.opened.get(key));
    card.dataset.fold = key;
    return card;
  }
}

Chat.prototype.makers = {
  user(item, node) {
    node.className = 'user';
    replace(node, item.steer && h('span.label', 'steered'), h('div.bubble', contentView(item.content, false)),
      this.act.menu && this.act.menu(item));
  },
  report(item, node) {
    node.className = 'report';
    replace(node, h('span.label', `${item.agent} reports`), this.fold(item.key, false, cut(wordsOf(item.content), 120), contentView(item.content, false)));
  },
  answer(item, node) {
    node.className = `answer${item.discarded ? ' discarded' : ''}`;
    node.setAttribute('aria-busy', item.streaming ? 'true' : 'false');
    const kids = item.blocks.map((block, i) => this.block(item, block, i)).filter(Boolean);
    const head = item.agent && h('span.label', item.agent);
    const waiting = item.streaming && item.waiting && h('div.waiting', h('span.spinner'), 'waiting for the model');
    const aborted = item.stop === 'aborted' && h('p.hint', 'Stopped here.');
    const length = item.stop === 'length' && h('p.hint', 'The answer was cut at its length limit.');
    const refusal = item.stop === 'refusal' && h('p.hint', 'The model refused.');
    const old = item.discarded && h('p.hint', 'Not part of the conversation.');
    replace(node, head, kids, waiting, aborted, length, refusal, old);
    node.hidden = item.hidden || (!kids.length && !waiting && !aborted && !refusal);
  },
  question(item, node) {
    node.className = 'answer';
    const call = this.conversation.call(item.call);
    replace(node, callCard(call, {name: call.tool, args: call.args}, this.act, true));
    node.hidden = call.state !== 'asking';
  },
  agent(item, node) {
    node.className = 'divider';
    replace(node, h('span', item.agent), h('small', item.agentKind));
  },
  remark(item, node) {
    node.className = `remark ${item.level}`;
    replace(node, item.text);
  },
  run(item, node) {
    node.className = `runend ${item.status}`;
    const words = {completed: 'Done', failed: 'Failed', cancelled: 'Stopped', interrupted: 'Interrupted', limit: 'Stopped at a limit'};
    const u = item.usage || {};
    const tokens = (u.input_tokens || 0) + (u.cache_read_tokens || 0) + (u.cache_write_tokens || 0) + (u.output_tokens || 0);
    const parts = [words[item.status] || item.status, item.duration ? duration(item.duration) : null, item.turns && plural(item.turns, 'turn'),
      item.toolCalls && plural(item.toolCalls, 'call'), tokens ? `${count(tokens)} tokens` : null, tokens ? money(item.cost) : null].filter(Boolean);
    replace(node, h('span', parts.join(' · ')), item.error && h('p.error', item.error.message || item.error.code),
      item.status === 'interrupted' && h('p.hint', 'The program stopped before this run could end.'));
  },
};
