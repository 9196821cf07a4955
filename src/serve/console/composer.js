// composer.js - what the user types. While a run is under way Enter steers it and Alt+Enter queues.

class Composer {
  constructor(node, act) {
    this.act = act;
    this.node = node;
    this.files = [];
    this.attached = new Map(); // session -> files
    this.of = '';
    this.box = h('textarea', {rows: 1, 'aria-label': 'Message', 'aria-autocomplete': 'list', 'aria-controls': 'suggest', placeholder: 'What shall hob do?',
      oninput: () => this.typed(), onkeydown: (e) => this.keys(e), onpaste: (e) => this.take(e.clipboardData, e)});
    this.chips = h('div.chips', {'aria-label': 'Attached', role: 'group'});
    this.queue = h('div.queue', {'aria-live': 'polite'});
    this.editing = h('div.editing', {hidden: true}, icon('pencil'), h('span', 'You change an earlier message: the answer starts a new branch.'), iconButton('close', 'Do not change it', () => this.edit(null)));
    this.suggest = h('div.suggest', {id: 'suggest', role: 'listbox', 'aria-label': 'Commands', hidden: true});
    this.picker = h('input', {type: 'file', multiple: true, hidden: true, onchange: () => { this.addFiles(this.picker.files); this.picker.value = ''; }});
    this.send = h('button.primary.send', {type: 'button', title: 'Send (Enter)', 'aria-label': 'Send', onclick: () => this.submit('send')}, icon('send'));
    this.steer = h('button.steer', {type: 'button', title: 'Tell it now, after the tool that runs (Enter)', onclick: () => this.submit('steer')}, 'Steer');
    this.later = h('button.later', {type: 'button', title: 'For when it is done (Alt+Enter)', onclick: () => this.submit('enqueue')}, 'Queue');
    this.stop = h('button.stop', {type: 'button', title: 'Stop the run (Esc)', 'aria-label': 'Stop', onclick: () => act.stop()}, icon('stop'));
    this.info = h('button.info', {type: 'button', title: 'Model, permissions, usage: choose and see (5)', onclick: () => act.settings()});
    replace(node, this.queue, this.editing, this.suggest, h('div.compose', this.chips, this.box, this.picker, h('div.actions',
      iconButton('clip', 'Attach pictures or text files', () => this.picker.click()), this.info, this.steer, this.later, this.stop, this.send)));
    for (const kind of ['dragover', 'dragleave', 'drop']) document.body.addEventListener(kind, (e) => this.drag(e));
    this.state({});
  }
  drag(event) {
    if (![...event.dataTransfer.types].includes('Files')) return;
    event.preventDefault();
    this.node.classList.toggle('drop', event.type === 'dragover');
    if (event.type === 'drop') this.take(event.dataTransfer, event);
  }
  keys(event) {
    if (!this.suggest.hidden && this.suggestKeys(event)) return;
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.submit(event.altKey ? 'enqueue' : this.running ? 'steer' : 'send');
  }
  typed() {
    this.fit();
    this.offer();
  }
  fit() {
    this.box.style.height = 'auto';
    this.box.style.height = `${Math.min(this.box.scrollHeight, 260)}px`;
    this.keepDraft();
  }
  // What is typed stays with its session, also over a reload; what is attached as long as the page lives.
  keepDraft() {
    try {
      if (this.box.value) sessionStorage.setItem(`hob.draft.${this.of}`, this.box.value);
      else sessionStorage.removeItem(`hob.draft.${this.of}`);
    } catch { /* more than a browser keeps: it stays in the field */ }
  }
  // To another session. Words for the one that was just made go with it.
  switchTo(id, along) {
    if (along) sessionStorage.removeItem(`hob.draft.${this.of}`);
    else this.attached.set(this.of, this.files);
    this.of = id || '';
    if (!along) {
      this.box.value = sessionStorage.getItem(`hob.draft.${this.of}`) || '';
      this.files = this.attached.get(this.of) || [];
    }
    this.edit(null);
    this.drawChips();
    this.fit();
  }
  state({running, stopping, paused, asking, mayRun = true}) {
    this.running = Boolean(running);
    this.send.hidden = this.running;
    this.steer.hidden = this.later.hidden = this.stop.hidden = !running;
    this.stop.disabled = Boolean(stopping);
    this.box.disabled = !mayRun;
    this.box.placeholder = !mayRun ? 'Your token may only look; sending needs one with the right “run”' : paused ? 'Say what it shall do when it goes on' : running ? `Say what to do differently${asking && !matchMedia('(pointer: coarse), (max-width: 760px)').matches ? ' (Esc: to the question)' : ''}` : 'What shall hob do?';
  }
  showQueue(queue) {
    const key = [...queue.keys()].join();
    if (key === this.queueKey) return;
    this.queueKey = key;
    replace(this.queue, [...queue.values()].map((q) => h('div.queued', h('span.label', q.kind === 'steer' ? 'will be told' : 'next'), cut(q.text, 200))));
  }
  put(words) {
    this.box.value = this.box.value ? `${this.box.value}\n${words}` : words;
    this.fit();
    this.box.focus();
  }
  // A message of before that is changed: what is sent next takes its place, on a branch of its own.
  edit(item) {
    this.changes = item;
    this.editing.hidden = !item;
    if (!item) return;
    this.box.value = wordsOf((item.content || []).filter((b) => !/^File [^\n]{1,200}:\n\n/.test(b.text || '')));
    this.fit();
    this.box.focus();
  }

  // ---- commands: what a prompt may begin with ----

  async offer() {
    const m = /^\/([\w-]*)$/.exec(this.box.value);
    const all = m ? await this.act.commands() : [];
    const fits = m && /^\/([\w-]*)$/.test(this.box.value) ? all.filter((c) => c.name.startsWith(m[1])).slice(0, 8) : [];
    this.suggest.hidden = !fits.length;
    replace(this.suggest, fits.map((c, i) => h('button', {type: 'button', role: 'option', id: `suggest-${i}`, tabindex: -1, 'aria-selected': String(i === 0), onclick: () => this.complete(c.name)},
      h('b', `/${c.name}`), h('span', c.description || ''))));
    this.point();
  }
  // Says which of them Enter would take, for those who hear it.
  point() {
    const at = !this.suggest.hidden && this.suggest.querySelector('[aria-selected=true]');
    if (at) this.box.setAttribute('aria-activedescendant', at.id);
    else this.box.removeAttribute('aria-activedescendant');
  }
  complete(name) {
    this.box.value = `/${name} `;
    this.suggest.hidden = true;
    this.box.focus();
  }
  suggestKeys(event) {
    const all = [...this.suggest.children];
    const at = all.findIndex((n) => n.getAttribute('aria-selected') === 'true');
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (step) {
      all[at].setAttribute('aria-selected', 'false');
      all[(at + step + all.length) % all.length].setAttribute('aria-selected', 'true');
      this.point();
    } else if (event.key === 'Tab' || (event.key === 'Enter' && this.box.value !== all[at].firstChild.textContent)) {
      all[at].click();
    } else if (event.key === 'Escape') {
      this.suggest.hidden = true;
      event.stopPropagation();
    } else {
      return false;
    }
    event.preventDefault();
    return true;
  }

  // ---- files and sending ----

  take(data, event) {
    if (!data || !data.files || !data.files.length) return;
    event.preventDefault();
    this.addFiles(data.files);
  }
  async addFiles(files) {
    for (const file of [...files]) { // the list of a picker empties itself
      try {
        this.files.push(await readAttachment(file));
      } catch (error) {
        this.act.fail(error);
      }
    }
    this.drawChips();
    this.box.focus();
  }
  drawChips() {
    replace(this.chips, this.files.map((file, i) => h('span.chip', file.thumb ? h('img', {src: file.thumb, alt: ''}) : icon('file'), h('span', file.name), h('small', file.size),
      iconButton('close', `Remove ${file.name}`, () => { this.files.splice(i, 1); this.drawChips(); }))));
  }
  async submit(how) {
    const words = this.box.value.trim();
    if ((!words && !this.files.length) || this.box.disabled) return;
    const {files, changes} = this;
    this.box.value = '';
    this.files = [];
    this.edit(null);
    this.suggest.hidden = true;
    this.drawChips();
    this.fit();
    try {
      await this.act.say(how, [...(words ? [{type: 'text', text: words}] : []), ...files.map((f) => f.block)], changes);
    } catch (error) {
      this.box.value = this.box.value ? `${words}\n${this.box.value}` : words; // nothing that was typed is lost
      this.files = [...files, ...this.files];
      this.changes = changes;
      this.editing.hidden = !changes;
      this.drawChips();
      this.fit();
      this.act.fail(error);
    }
  }
}

// ---- attachments ----

const MAX_IMAGE = 5 << 20;
const MAX_FILE = 256 << 10;

function base64(buffer) {
  const view = new Uint8Array(buffer);
  let out = '';
  for (let i = 0; i < view.length; i += 0x8000) out += String.fromCharCode(...view.subarray(i, i + 0x8000));
  return btoa(out);
}

async function readAttachment(file) {
  const size = bytesOf(file.size);
  if (/^image\/(png|jpeg|gif|webp)$/.test(file.type)) {
    if (file.size > MAX_IMAGE) throw new Error(`${file.name} is larger than 5 MB: make it smaller, or put it into the folder and name it`);
    const data = base64(await file.arrayBuffer());
    return {name: file.name, size, thumb: `data:${file.type};base64,${data}`, block: {type: 'image', media_type: file.type, data}};
  }
  if (file.size > MAX_FILE) throw new Error(`${file.name} is larger than 256 KB: put it into the folder and name it instead`);
  let words;
  try {
    words = new TextDecoder('utf-8', {fatal: true}).decode(await file.arrayBuffer());
  } catch {
    throw new Error(`${file.name} is neither a picture (PNG, JPEG, GIF, WebP) nor text: put it into the folder and name it instead`);
  }
  return {name: file.name, size, block: {type: 'text', text: `File ${file.name}:\n\n${words}`}};
}
