// fresh.js - before a session is there: what it shall be. Only what the server offers is shown.

const IDEAS = ['What is in this folder?', 'What changed lately?', 'Where could this fail?'];

class Fresh {
  constructor(node, under, info, act) {
    Object.assign(this, {node, under}); // above and below the message field
    this.act = act;
    this.info = info;
    this.fields = {};
  }
  field(name, label, control) {
    this.fields[name] = control;
    return h('label', h('span', label), control);
  }
  choice(options) {
    return h('select', options.map(([value, label, disabled]) => h('option', {value, disabled}, label)));
  }
  draw(folders) {
    if (this.drawn) return;
    this.drawn = true;
    const datalist = h('datalist', {id: 'folders'}, folders.map((f) => h('option', {value: f})));
    this.models = this.field('model', 'Model', this.choice([['', asSet((this.info.model || '').split('/').pop())]]));
    this.agents = this.field('agent', 'Agent', this.choice([['', 'hob itself']]));
    this.agents.hidden = true;
    replace(this.node, logo(), h('h2', 'What shall be done?'));
    replace(this.under, h('div.ideas.needs-run', IDEAS.map((words) => h('button.small', {type: 'button', onclick: () => this.act.putBack(words)}, words))), h('form.settings.needs-run', {'aria-label': 'Settings of the new session', onsubmit: (e) => e.preventDefault()},
      this.models, this.agents,
      this.field('permission_mode', 'Permissions', this.choice([['', asSet(this.info.permission_mode)], ...modesUpTo(this.info.max_mode).map((m) => [m, `${m}: ${MODES[m]}`])])),
      this.field('thinking', 'Thinking', this.choice([['', 'Default'], ...['off', 'minimal', 'low', 'medium', 'high', 'xhigh'].map((t) => [t, t])])),
      this.field('cwd', 'Folder', h('input', {placeholder: this.info.cwd || '', list: 'folders', spellcheck: 'false', autocapitalize: 'off'})), datalist),
    h('p.hint.not-phone', h('kbd', '?'), ' shows the keys. Pictures and text files can be dropped anywhere.'));
    this.load();
  }
  async load() {
    try {
      const [models, agents] = await Promise.all([api.get('/api/models'), api.get('/api/agents')]);
      const usual = models.models.find((m) => m.default);
      if (usual) this.fields.model.options[0].textContent = asSet(usual.name);
      append(this.fields.model, modelOptions(models.models));
      append(this.fields.agent, agents.agents.map((a) => h('option', {value: a.name}, a.description ? `${a.name}: ${cut(a.description, 80)}` : a.name)));
      this.agents.hidden = !agents.agents.length;
    } catch { /* the defaults serve */ }
  }
  values() {
    const chosen = Object.entries(this.fields).map(([name, field]) => [name, field.value.trim()]);
    return Object.fromEntries(chosen.filter(([, value]) => value));
  }
}

const asSet = (what) => (what ? `Default: ${what}` : 'Default');

// Those that can be used first; the others say what they lack.
function modelOptions(models) {
  const usable = models.filter((m) => m.key);
  const others = models.filter((m) => !m.key);
  return [usable.map((m) => h('option', {value: m.name}, m.name)),
    others.length > 0 && h('optgroup', {label: 'No key for these on the server'}, others.map((m) => h('option', {value: m.name, disabled: true}, m.name)))];
}
