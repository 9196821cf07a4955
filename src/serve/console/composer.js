// composer.js - what the user types. While a run is under way Enter steers it and Alt+Enter queues.

const MAX_IMAGE = 5 << 20;
const MAX_FILE = 256 << 10;

class Composer {
  constructor(node, act) {
    this.act = act;
    this.files = [];
    this.box = h('textarea', {rows: 1, 'aria-label': 'Message', placeholder: 'What shall hob do?',
      oninput: () => this.fit(), onkeydown: (e) => this.keys(e), onpaste: (e) => this.take(e.clipboardData, e)});
    this.chips = h('div.chips');
    this.queue = h('div.queue', {'aria-live': 'polite'});
    this.picker = h('input', {type: 'file', multiple: true, hidden: true, onchange: () => { this.addFiles(this.picker.files); this.picker.value = ''; }});
    this.send = h('button.primary.send', {type: 'button', title: 'Send (Enter)', 'aria-label': 'Send', onclick: () => this.submit('send')}, icon('send'));
    this.steer = h('button.steer', {type: 'button', title: 'Tell it now (Enter)', onclick: () => this.submit('steer')}, 'Steer');
    this.later = h('button.later', {type: 'button', title: 'When it is done (Alt+Enter)', onclick: () => this.submit('enqueue')}, 'Queue');
    this.stop = h('button.stop', {type: 'button', title: 'Stop the run (Esc)', 'aria-label': 'Stop', onclick: () => act.stop()}, icon('stop'));
    this.info = h('div.info');
    replace(node, this.queue, this.chips, h('div.compose', iconButton('clip', 'Attach images or text files', () => this.picker.click()),
      this.picker, this.box, h('div.actions', this.steer, this.later, this.stop, this.send)), this.info);
    node.addEventListener('dragover', (e) => { e.preventDefault(); node.classList.add('drop'); });
    node.addEventListener('dragleave', () => node.classList.remove('drop'));
    node.addEventListener('drop', (e) => { node.classList.remove('drop'); this.take(e.dataTransfer, e); });
    this.state(false, false);
  }
  keys(event) {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.submit(event.altKey ? 'enqueue' : this.running ? 'steer' : 'send');
  }
  fit() {
    this.box.style.height = 'auto';
    this.box.style.height = `${Math.min(this.box.scrollHeight, 260)}px`;
  }
  state(running, stopping) {
    this.running = running;
    this.send.hidden = running;
    this.steer.hidden = this.later.hidden = this.stop.hidden = !running;
    this.stop.disabled = stopping;
    this.box.placeholder = running ? 'Steer it: say what to do differently' : 'What shall hob do?';
  }
  showQueue(queue) {
    replace(this.queue, [...queue.values()].map((q) => h('div.queued', h('span.label', q.kind === 'steer' ? 'will be told' : 'next'), cut(q.text, 200))));
  }
  take(data, event) {
    if (!data || !data.files || !data.files.length) return;
    event.preventDefault();
    this.addFiles(data.files);
  }
  async addFiles(files) {
    for (const file of files) {
      try {
        this.files.push(await readAttachment(file));
      } catch (error) {
        this.act.fail(error);
      }
    }
    this.drawChips();
  }
  drawChips() {
    replace(this.chips, this.files.map((file, i) => h('span.chip', file.name,
      iconButton('close', `Remove ${file.name}`, () => { this.files.splice(i, 1); this.drawChips(); }))));
  }
  async submit(how) {
    const words = this.box.value.trim();
    if (!words && !this.files.length) return;
    if (this.files.length && how !== 'send') return this.act.fail(new Error('Files can be sent with a new message only: stop the run, or wait for its end.'));
    const files = this.files;
    this.box.value = '';
    this.files = [];
    this.drawChips();
    this.fit();
    try {
      await this.act.say(how, words, files.map((f) => f.block));
    } catch (error) {
      this.box.value = this.box.value ? `${words}\n${this.box.value}` : words; // nothing that was typed is lost
      this.files = [...files, ...this.files];
      this.drawChips();
      this.fit();
      this.act.fail(error);
    }
  }
}

function base64(buffer) {
  const view = new Uint8Array(buffer);
  let out = '';
  for (let i = 0; i < view.length; i += 0x8000) out += String.fromCharCode(...view.subarray(i, i + 0x8000));
  return btoa(out);
}

async function readAttachment(file) {
  if (/^image\/(png|jpeg|gif|webp)$/.test(file.type)) {
    if (file.size > MAX_IMAGE) throw new Error(`${file.name} is larger than 5 MB`);
    return {name: file.name, block: {type: 'image', media_type: file.type, data: base64(await file.arrayBuffer())}};
  }
  if (file.size > MAX_FILE) throw new Error(`${file.name} is larger than 256 KB: put it into the folder and name it instead`);
  const content = new TextDecoder('utf-8', {fatal: true});
  let words;
  try {
    words = content.decode(await file.arrayBuffer());
  } catch {
    throw new Error(`${file.name} is neither an image nor text`);
  }
  return {name: file.name, block: {type: 'text', text: `File ${file.name}:\n\n${words}`}};
}
