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
  menu: 'M3 5h14M3 10h14M3 15h14', plus: 'M10 4v12M4 10h12', close: 'M5 5l10 10M15 5L5 15', send: 'M10 16V4M5 9l5-5 5 5',
  stop: 'M6 6h8v8H6z', clip: 'M14 8l-5 5a2 2 0 01-3-3l6-6a3.3 3.3 0 015 5l-7 7a5 5 0 01-7-7l5-5',
  panel: 'M3 4h14v12H3zM12 4v12', theme: 'M10 3a7 7 0 100 14V3zM10 3a7 7 0 010 14', check: 'M4 10l4 4 8-8',
  chevron: 'M8 5l5 5-5 5', fork: 'M6 3v14M6 9c0 4 8 2 8-4M14 5V3', trash: 'M4 6h12M8 6V4h4v2M6 6l1 10h6l1-10',
  down: 'M10 4v12M5 11l5 5 5-5', copy: 'M7 7h9v9H7zM4 13V4h9', out: 'M8 4H4v12h4M12 6l4 4-4 4M16 10H8', dots: 'M4 10h.01M10 10h.01M16 10h.01',
  pencil: 'M4 16l1-4 8-8 3 3-8 8-4 1zM12 5l3 3', terminal: 'M3 4h14v12H3zM6 8l2 2-2 2M10 12h4', file: 'M5 3h7l3 3v11H5zM12 3v3h3',
  gear: 'M10 7a3 3 0 100 6 3 3 0 000-6zM10 3v2M10 15v2M3 10h2M15 10h2M5 5l1.5 1.5M13.5 13.5L15 15M15 5l-1.5 1.5M6.5 13.5L5 15',
  people: 'M7 10a3 3 0 100-6 3 3 0 000 6zM2 17c0-6 10-6 10 0M13 9a2.5 2.5 0 100-5M14 12c3 0 4 2 4 5', search: 'M9 4a5 5 0 100 10A5 5 0 009 4zM13 13l4 4',
  spark: 'M10 3l1.8 5.2L17 10l-5.2 1.8L10 17l-1.8-5.2L3 10l5.2-1.8z', warn: 'M10 3l8 14H2zM10 8v4M10 14.5v.01', retry: 'M15 6a6 6 0 10.5 6M16 3v4h-4',
  ask: 'M3 4h14v9H9l-4 4v-4H3z', pause: 'M7 5v10M13 5v10', wide: 'M3 10h14M6 7l-3 3 3 3M14 7l3 3-3 3', play: 'M6 4l10 6-10 6z', up: 'M5 12V6h6M5 6l10 9', keys: 'M3 6h14v8H3zM6 9h.01M9 9h.01M12 9h.01M7 12h6',
};

function icon(name) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 20 20');
  svg.setAttribute('aria-hidden', 'true');
  if (name === 'stop') svg.classList.add('solid');
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', ICONS[name]);
  svg.append(path);
  return svg;
}

function iconButton(name, label, onclick, extra = {}) {
  return h('button.icon', {type: 'button', title: label, 'aria-label': label, onclick, ...extra}, icon(name));
}

// Nothing where the browser has no clipboard for us (a page that is neither https nor on this machine).
function copyButton(label, words) {
  if (!navigator.clipboard) return null;
  const button = iconButton('copy', label, async () => {
    const done = await navigator.clipboard.writeText(words()).then(() => true, () => false);
    button.replaceChildren(icon(done ? 'check' : 'close'));
    announce(done ? 'Copied.' : 'It could not be copied: the browser does not allow it.');
    setTimeout(() => button.replaceChildren(icon('copy')), 1200);
  });
  return button;
}

// For those who hear the page.
function announce(words) {
  const live = document.querySelector('.unseen');
  if (live) live.textContent = words;
}

// The children of a node become these, in this order. Those that are in their place are not touched, so that what is
// typed, selected or open in them stays.
function keep(node, children) {
  let at = node.firstChild;
  for (const child of children.flat(Infinity)) {
    if (!(child instanceof Node)) continue;
    if (child === at) at = at.nextSibling;
    else node.insertBefore(child, at);
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
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

// How long a run took: the time that it waited for somebody is no work.
function took({duration: ms, inAll}) {
  if (!ms || !(inAll - ms >= 100) || duration(ms) === duration(inAll)) return inAll || ms ? duration(inAll || ms) : null;
  return `${duration(ms)} at work, ${duration(inAll)} in all`;
}

// For columns: two parts at most.
function brief(ms) {
  if (ms < 60000) return duration(ms);
  if (ms < 3600000) return `${Math.floor(ms / 60000)}m ${Math.round((ms % 60000) / 1000)}s`;
  return `${Math.floor(ms / 3600000)}h ${Math.round((ms % 3600000) / 60000)}m`;
}

// For a clock that ticks.
function seconds(ms) {
  return ms < 60000 ? `${Math.max(0, Math.floor(ms / 1000))} s` : brief(Math.floor(ms / 1000) * 1000);
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

// The time of day; of another day also which.
function clock(iso, now = new Date()) {
  const at = new Date(iso);
  return at.toDateString() === now.toDateString() ? at.toLocaleTimeString([], {timeStyle: 'short'}) : at.toLocaleString([], {dateStyle: 'medium', timeStyle: 'short'});
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

function bytesOf(n) {
  return n < 1024 ? `${n} B` : n < 1 << 20 ? `${Math.round(n / 1024)} KB` : `${(n / (1 << 20)).toFixed(1)} MB`;
}

function plural(n, word) {
  return `${n} ${word}${n === 1 ? '' : 's'}`;
}

// What an eye would pass over, or read in another order than it stands, is shown by its number.
function visible(text) {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
    (c) => `⟨U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}

function cut(text, max) {
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}
