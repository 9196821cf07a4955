// dom.js - making nodes, and words for numbers. Text enters the page as text nodes only: there is no innerHTML anywhere.

const SVG = 'http://www.w3.org/2000/svg';

function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

// h('button.primary', {onclick, title}, 'Send'): class names behind dots, functions become listeners.
function h(what, attrs, ...children) {
  const [tag, ...classes] = what.split('.');
  const node = document.createElement(tag || 'div');
  if (classes.length) node.className = classes.join(' ');
  if (attrs instanceof Node || typeof attrs !== 'object' || attrs === null || Array.isArray(attrs)) {
    children.unshift(attrs);
    attrs = {};
  }
  for (const [name, value] of Object.entries(attrs)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') node.addEventListener(name.slice(2), value);
    else if (name === 'data') Object.assign(node.dataset, value);
    else node.setAttribute(name, value === true ? '' : value);
  }
  return append(node, children);
}

const ICONS = {
  menu: 'M3 5h14M3 10h14M3 15h14', plus: 'M10 4v12M4 10h12', close: 'M5 5l10 10M15 5L5 15',
  send: 'M10 16V4M5 9l5-5 5 5', stop: 'M6 6h8v8H6z', clip: 'M14 8l-5 5a2 2 0 01-3-3l6-6a3.3 3.3 0 015 5l-7 7a5 5 0 01-7-7l5-5',
  panel: 'M3 4h14v12H3zM12 4v12', theme: 'M10 3a7 7 0 100 14V3z', check: 'M4 10l4 4 8-8', cross: 'M5 5l10 10M15 5L5 15',
  chevron: 'M7 5l5 5-5 5', fork: 'M6 4v5a3 3 0 003 3h2a3 3 0 013 3v1M6 4v12', trash: 'M4 6h12M8 6V4h4v2M6 6l1 10h6l1-10',
  down: 'M10 4v12M5 11l5 5 5-5', copy: 'M7 7h9v9H7zM4 13V4h9', search: 'M9 4a5 5 0 100 10A5 5 0 009 4zM13 13l4 4',
  out: 'M8 4H4v12h4M12 6l4 4-4 4M16 10H8',
};

function icon(name) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 20 20');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', ICONS[name]);
  svg.append(path);
  return svg;
}

function iconButton(name, label, onclick, extra = {}) {
  return h('button.icon', {type: 'button', title: label, 'aria-label': label, onclick, ...extra}, icon(name));
}

function replace(node, ...children) {
  node.replaceChildren();
  return append(node, children);
}

// ---- words ----

function duration(ms) {
  if (ms === null || ms === undefined || Number.isNaN(ms)) return '';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(ms < 10000 ? 1 : 0)} s`;
  if (ms < 3600000) return `${Math.floor(ms / 60000)} min ${Math.round((ms % 60000) / 1000)} s`;
  return `${Math.floor(ms / 3600000)} h ${Math.round((ms % 3600000) / 60000)} min`;
}

function ago(iso, now = Date.now()) {
  const s = (now - Date.parse(iso)) / 1000;
  if (!(s >= 0)) return '';
  if (s < 60) return 'now';
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86400) return `${Math.floor(s / 3600)} h`;
  if (s < 86400 * 7) return `${Math.floor(s / 86400)} d`;
  return new Date(iso).toLocaleDateString();
}

function count(n) {
  if (n === null || n === undefined) return '–';
  if (n < 1000) return String(n);
  if (n < 1e6) return `${(n / 1000).toFixed(n < 10000 ? 1 : 0)}k`;
  return `${(n / 1e6).toFixed(1)}M`;
}

function money(usd) {
  if (usd === null || usd === undefined) return null;
  return usd < 0.01 && usd > 0 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

function plural(n, word) {
  return `${n} ${word}${n === 1 ? '' : 's'}`;
}

function cut(text, max) {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}
