// asking.js - what waits for a person, and what sub-agents do meanwhile: the parts of cards that act.

const MODES = {
  plan: 'looks only, changes nothing', ask: 'asks before anything is changed or run', 'accept-edits': 'changes files without asking, asks before commands',
  yolo: 'asks nothing',
};
const modesUpTo = (most) => Object.keys(MODES).filter((_, i, all) => !most || i <= all.indexOf(most));
const CLASSES = {read_only: 'It only reads.', idempotent: 'Doing it twice is the same as doing it once.', unsafe: 'It may have effects that cannot be taken back.'};

// Why it asks, in words: the rule that decided.
function ruleView(call) {
  const mode = /^mode:(.+)$/.exec(call.rule || '');
  const rule = mode ? ['permission mode ', h('code', mode[1]), MODES[mode[1]] && ` (${MODES[mode[1]]})`] : call.rule && ['rule ', h('code', call.rule)];
  return h('p.rule', rule && ['Asked because of ', rule, '. '], call.why && `${call.why}. `, CLASSES[call.class] || '');
}

// What is disabled loses the focus: the card takes it, so that keys go on from there.
function setBusy(bar, yes) {
  if (yes && bar.contains(document.activeElement)) bar.closest('.card').querySelector('summary').focus({preventScroll: true});
  bar.querySelectorAll('button, input, textarea, select').forEach((n) => { n.disabled = yes; });
}

function approvalBar(call, act) {
  if (!act.may('approve')) return h('div.approval', h('p.rule', 'This needs an answer, and your token may not give it: somebody with the right “approve” has to.'));
  if (call.question !== undefined) return questionForm(call, act);
  const reason = h('input', {placeholder: 'Reason (optional, the model sees it)', 'aria-label': 'Reason', maxlength: 1000});
  const busy = (yes) => setBusy(bar, yes);
  const answer = async (approved) => {
    busy(true);
    try {
      await act.answer(call.call, approved, reason.value.trim());
    } catch (error) {
      busy(false);
      act.fail(error);
    }
  };
  const rule = ruleView(call);
  const who = call.child ? `${call.childAgent || 'A sub-agent'} asks: may it run ${call.tool}?` : `Allow ${call.tool}?`;
  const bar = h('div.approval', {role: 'group', 'aria-label': who}, h('p.ask', who), rule,
    h('div.row', h('button.primary', {type: 'button', data: {answer: 'allow'}, title: 'Allow once (A)', onclick: () => answer(true)}, icon('check'), 'Allow once', h('kbd', 'A')),
      h('button', {type: 'button', data: {answer: 'deny'}, title: 'Deny (X)', onclick: () => answer(false)}, icon('close'), 'Deny', h('kbd', 'X')), reason));
  return bar;
}

function childWaits(child) {
  return Boolean(child) && child.status === 'running' && (child.asks > 0 || (child.live || {}).status === 'parked');
}

function childBadge(child) {
  if (childWaits(child)) return h('span.badge.warn', 'waits for you');
  if (child.status === 'running') return h('span.badge.live', h('span.spinner'), 'at work');
  const tone = {completed: 'ok', cancelled: 'mute'}[child.status] || 'bad';
  return h(`span.badge.${tone}`, child.status === 'cancelled' ? 'stopped' : child.status);
}

// What a sub-agent does now, or how it ended. The card of its call says itself that it works, or waits.
function childStrip(child, act, inCard = false) {
  const live = child.live || {};
  const running = child.status === 'running';
  const numbers = [live.turns ?? child.turns, live.tool_calls ?? child.toolCalls];
  const tokens = live.tokens || tokensOf(live.usage || child.usage);
  const facts = [numbers[0] && plural(numbers[0], 'turn'), numbers[1] && plural(numbers[1], 'call'), tokens && `${count(tokens)} tokens`, money(child.cost)].filter(Boolean).join(' · ');
  const words = ((running ? live.text : child.text) || '').replace(/[*`#]/g, '').replace(/\n{2,}/g, '\n');
  return h('div.strip', h('div.row', !(inCard && running) && childBadge(child), h('span.hint.facts', {title: facts}, facts),
  h('span.spacer'), running && act.may('run') && h('button.small', {type: 'button', onclick: () => act.stopChild(child.child)}, icon('stop'), 'Stop'),
  h('a.button.small', {href: `#/s/${encodeURIComponent(child.child)}`}, 'Open', icon('chevron'))),
  child.reason && !running && h('p.hint', child.reason),
  words && h('p.tail', running ? `…${words.slice(-240)}` : cut(words, 240)),
  child.worktree && child.worktree.state === 'kept' && h('p.hint', `Its work is on the branch ${child.worktree.branch}, in ${child.worktree.folder}.`));
}

// ---- what to do when a run did not end well ----

const ADVICE = {
  HOB_EAUTH: 'The provider refused the key. Set it where hob serve runs (ANTHROPIC_API_KEY, OPENAI_API_KEY, …), start the server again, then try again.',
  HOB_EOVERLOAD: 'The provider is overloaded. Try again in a minute, or choose another model in the details.',
  HOB_ERATE: 'The provider’s rate limit is reached. Wait a little, then try again.',
  HOB_ENET: 'The provider could not be reached. Check the network of the server, then try again.',
  HOB_ETIMEDOUT: 'The provider took too long. Try again, or choose another model in the details.',
  HOB_ETOOBIG: 'The conversation or an answer was too large. Start a new session, or go back to an earlier message.',
  HOB_EPROTO: 'The provider’s answer could not be understood. Try again; if it stays so, choose another model.',
  HOB_ENOENT: 'The provider does not know this model. Choose another one in the details.',
};

function adviceFor(item) {
  if (item.status === 'interrupted') return 'The program stopped before this run could end. Nothing that was said or done is lost.';
  if (item.status === 'limit' && /^quota_/.test(item.reason || '')) return 'What its token may spend is used up. A message of somebody who has something left goes on from here.';
  if (item.status === 'limit') return 'A limit of this session ended the run. Send a message to go on: a new run has its own limits.';
  if (item.status !== 'failed') return null;
  return ADVICE[(item.error || {}).code] || 'Try again, or say what to do differently.';
}
