// timeline.js - a run as a waterfall: model calls, tools, waits, agents, each under whom it belongs to.

const KINDS = {model: 'Model', tool: 'Tools', wait: 'Waiting', child: 'Sub-agents', agent: 'Agents'};
const MAX_ROWS = 150;

// Time that at least one of these took: what runs side by side counts once.
function covered(spans, now) {
  let sum = 0;
  let to = -Infinity;
  for (const s of [...spans].sort((a, b) => a.start - b.start)) {
    const end = s.end || now;
    if (end > to) sum += end - Math.max(s.start, to);
    to = Math.max(to, end);
  }
  return sum;
}

// In the order of a tree: a span, then those that hang on it.
function nested(spans) {
  const kids = new Map();
  const keys = new Set(spans.map((s) => s.key));
  for (const s of spans) {
    const under = keys.has(s.parent) ? s.parent : null;
    if (!kids.has(under)) kids.set(under, []);
    kids.get(under).push(s);
  }
  const out = [];
  const walk = (key, depth) => {
    for (const span of kids.get(key) || []) {
      out.push({span, depth});
      walk(span.key, depth + 1);
    }
  };
  walk(null, 0);
  return out;
}

function spanRow({span, depth}, {start, end, now}, act) {
  const to = span.end || now;
  const percent = (ms) => (100 * (ms - start)) / (end - start);
  const bar = h(`span.bar.k-${span.kind}`, {data: {status: span.status}});
  bar.classList.add(span.kind);
  bar.style.left = `${Math.min(99, percent(span.start))}%`;
  bar.style.width = `${Math.max(0.8, percent(to) - percent(span.start))}%`;
  const name = span.kind === 'model' ? span.name.split('/').pop() : span.name;
  const facts = [`${duration(to - span.start)}, begins after ${duration(span.start - start)}`, span.status !== 'ok' && span.status !== 'completed' && span.status !== 'open' && span.status,
    span.attempt > 1 && `try ${span.attempt}`, span.tokens && `${count(span.tokens)} tokens`].filter(Boolean).join(', ');
  const label = h('span.name', span.kind === 'run' ? 'Run' : name, span.about && h('small', visible(cut(span.about, 60))));
  label.style.paddingLeft = `${Math.min(5, depth) * 9}px`;
  const inside = [label, h('span.track', bar), h('span.time', brief(to - span.start))];
  const title = `${name}${span.about ? ` ${cut(span.about, 200)}` : ''}: ${facts}`;
  return h(`li.${span.kind}`, span.item ? h('button.step', {type: 'button', title, data: {span: span.key}, onclick: () => act.reveal(span.item)}, inside) : h('div.step', {title}, inside));
}

function timelineView(panel, c) {
  const runs = [...c.runs.values()];
  if (!runs.length) return h('div.empty', icon('retry'), h('p', 'No run yet.'), h('p.hint', 'Send a message: its model calls, tools and waits are drawn here as they happen.'));
  const chosen = panel.run && c.runs.has(panel.run) ? panel.run : runs[runs.length - 1].id;
  const now = Date.now();
  const all = c.spans.filter((s) => s.run === chosen && !s.covered);
  const start = Math.min(...all.map((s) => s.start));
  const frame = {start, now, end: Math.max(...all.map((s) => s.end || now), start + 4)};
  const rows = nested(all);
  const shown = panel.allRows ? rows : rows.slice(-MAX_ROWS);
  const sums = Object.keys(KINDS).map((kind) => [kind, all.filter((s) => s.kind === kind)]).filter(([, list]) => list.length);
  return [runSelect(panel, runs, chosen),
    h('dl.sums', sums.map(([kind, list]) => h(`div.k-${kind}`, h('dt', KINDS[kind]), h('dd', brief(covered(list, now)), h('small', ` ×${list.length}`))))),
    h('div.axis', {'aria-hidden': 'true'}, [0, 0.5, 1].map((part) => h('span', brief((frame.end - start) * part)))),
    shown.length < rows.length && h('button.small', {type: 'button', onclick: () => { panel.allRows = true; panel.draw(true); }}, `Show ${rows.length - shown.length} earlier steps`),
    h('ol.waterfall', shown.map((row) => spanRow(row, frame, panel.act)))];
}

function runSelect(panel, runs, chosen) {
  const words = (r, i) => [`Run ${i + 1}`, r.status, r.inAll !== undefined && took(r), r.content && cut(wordsOf(r.content).split('\n')[0], 40)].filter(Boolean).join(' · ');
  const key = `${chosen} ${runs.map(words)}`;
  if (panel.selectKey === key) return panel.runSelect; // it may be open
  panel.selectKey = key;
  const select = panel.runSelect = h('select', {'aria-label': 'Run', onchange: () => { panel.run = select.value; panel.allRows = false; panel.draw(true); }},
    runs.map((r, i) => h('option', {value: r.id, selected: r.id === chosen}, words(r, i))));
  return select;
}
