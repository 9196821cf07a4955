// dialogs.js - what lies over the page: questions, the menu of a session, a picture, the keys, what went wrong.

// Resolves to true, or to what was typed; to null if it was closed.
function ask({title, text, value, ok = 'OK', danger}) {
  return new Promise((resolve) => {
    const field = value !== undefined && h('input', {value, 'aria-label': title, maxlength: 200});
    const box = h('dialog', {'aria-label': title, onclose: () => { box.remove(); resolve(box.returnValue === 'ok' ? (field ? field.value.trim() : true) : null); }},
      h('form', {method: 'dialog'}, h('h2', title), text && h('p', text), field,
        h('div.row.end', h('button', {value: 'cancel', formnovalidate: true, type: 'button', onclick: () => box.close('')}, 'Cancel'),
          h(`button.primary${danger ? '.danger' : ''}`, {value: 'ok'}, ok))));
    document.body.append(box);
    box.showModal();
    if (field) field.select();
  });
}

function showBox(label, ...children) {
  const box = h('dialog', {'aria-label': label, onclose: () => box.remove(), onclick: (e) => e.target === box && box.close()},
    h('div.box', iconButton('close', 'Close', () => box.close()), children));
  document.body.append(box);
  box.showModal();
}

function showPicture(src) {
  showBox('Picture', h('img', {src, alt: 'picture'}));
}

const KEYS = [['Enter', 'send; while it works: steer'], ['Alt+Enter', 'queue for afterwards'], ['Shift+Enter', 'a new line'], ['Esc', 'stop the run; while it asks: from the message field to the question'], ['A · X', 'allow or deny the first question'],
  ['N', 'new session'], ['/', 'search sessions'], ['J · K', 'next or previous session'], ['I', 'to the message field'], ['D', 'details'], ['1 – 5', 'a tab of the details'], ['?', 'these keys']];

function showKeys() {
  showBox('Keys', h('h2', 'Keys'), h('dl.keys', KEYS.map(([key, what]) => [h('dt', key.split(' · ').map((k, i) => [i ? ' ' : '', h('kbd', k)])), h('dd', what)])));
}

// A button with a list of actions. `items` is asked each time it opens: [icon, label, action, danger].
function menuButton(label, items) {
  const list = h('div.menu-list', {role: 'menu'});
  const button = h('summary.icon', {title: label, 'aria-label': label, 'aria-haspopup': 'menu'}, icon('dots'));
  const node = h('details.menu', button, list);
  const shut = (event) => { if (!node.contains(event.target)) node.open = false; };
  node.addEventListener('toggle', () => {
    document[node.open ? 'addEventListener' : 'removeEventListener']('pointerdown', shut);
    if (!node.open) return;
    replace(list, items().map(([name, text, action, danger]) => h(`button${danger ? '.danger' : ''}`, {type: 'button', role: 'menuitem',
      onclick: () => { node.open = false; button.focus(); action(); }}, icon(name), text)));
    list.querySelector('button')?.focus();
  });
  node.addEventListener('focusout', (event) => { if (event.relatedTarget && !node.contains(event.relatedTarget)) node.open = false; });
  node.addEventListener('keydown', (event) => {
    const step = {ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling'}[event.key];
    if (event.key === 'Escape' && node.open) {
      node.open = false;
      button.focus();
      event.stopPropagation();
    }
    const next = step && event.target[step];
    if (next) next.focus();
    if (step) event.preventDefault();
  });
  return node;
}

// ---- what went wrong ----

const HINTS = {
  0: 'Is hob serve running? What you typed stays here.', 404: 'It may have been deleted.',
  409: 'Look at what it does now, then try again.', 413: 'Send less at once, or put the file into the folder and name it.', 503: 'It is starting or stopping: try again in a moment.',
};

class Toasts {
  constructor() {
    this.node = h('div.toasts', {role: 'alert'});
  }
  // What was tried again worked.
  clear() {
    replace(this.node);
  }
  fail(error) {
    const hint = error.status === 429 ? `Wait ${error.retryAfter || 'a few'} s and try again.`
      : error.status === 403 && / the right '/.test(error.message) ? 'Ask whoever runs the server for a token with this right.' : HINTS[error.status];
    const text = error.message.charAt(0).toUpperCase() + error.message.slice(1);
    const toast = h('div.toast', icon('warn'), h('div', h('p', /[.!?]$/.test(text) ? text : `${text}.`), hint && !/try again/.test(text) && h('p.hint', hint)),
      iconButton('close', 'Dismiss', () => toast.remove()));
    this.node.append(toast);
    while (this.node.childNodes.length > 4) this.node.firstChild.remove();
    const leave = () => (toast.matches(':hover, :focus-within') ? setTimeout(leave, 3000) : toast.remove());
    setTimeout(leave, 15000);
  }
}
