// question.js - what the model asks the user, as a form made from the JSON schema of the answer. A single choice is
// answered by its button; everything else by a form. The server has the last word on what fits.

const CHOICES_SHOWN = 8; // more become a list that opens
const FORM_DEPTH = 4;

// [value, words] of each choice; null if it is none: {"enum":[…]}, {"const":…}, {"oneOf":[{"const":…,"title":…}…]}.
function choicesOf(schema) {
  if (Array.isArray(schema.enum)) return schema.enum.map((v) => [v, typeof v === 'string' ? v : JSON.stringify(v)]);
  const all = schema.oneOf || schema.anyOf || ('const' in schema ? [schema] : []);
  if (!Array.isArray(all) || !all.length || !all.every((s) => s && typeof s === 'object' && 'const' in s)) return null;
  return all.map((s) => [s.const, s.title || (typeof s.const === 'string' ? s.const : JSON.stringify(s.const))]);
}

function typeOf(schema) {
  const type = Array.isArray(schema.type) ? schema.type.find((t) => t !== 'null') : schema.type;
  return type || (schema.properties ? 'object' : undefined);
}

// ---- fields: {node, value()}; value() gives undefined for what is left out, and throws what is wrong ----

function textField(schema, label, required, long) {
  const same = {'aria-label': label, required, maxlength: Math.min(schema.maxLength || 60000, 60000)};
  const input = long ? h('textarea', {...same, rows: 3}) : h('input', {...same, type: 'text'});
  if (typeof schema.default === 'string') input.value = schema.default;
  return {node: input, value: () => (input.value || required ? input.value : undefined)};
}

function numberField(schema, label, required) {
  const whole = typeOf(schema) === 'integer';
  const input = h('input', {type: 'number', 'aria-label': label, required, step: whole ? 1 : 'any', min: schema.minimum, max: schema.maximum, inputmode: whole ? 'numeric' : 'decimal'});
  if (typeof schema.default === 'number') input.value = schema.default;
  return {node: input, value: () => (input.value === '' ? undefined : Number(input.value))};
}

function checkField(schema, label) {
  const input = h('input', {type: 'checkbox', 'aria-label': label});
  input.checked = schema.default === true;
  return {node: input, value: () => input.checked};
}

function listField(choices, schema, label, required) {
  const select = h('select', {'aria-label': label, required}, h('option', {value: ''}, '…'), choices.map(([, words], i) => h('option', {value: i}, visible(words))));
  const at = choices.findIndex(([v]) => JSON.stringify(v) === JSON.stringify(schema.default));
  if (at >= 0) select.value = at;
  return {node: select, value: () => (select.value === '' ? undefined : choices[select.value][0])};
}

// One of them, or (several) any number.
function choiceField(choices, schema, label, required, several) {
  const name = `q${Math.random().toString(36).slice(2)}`;
  const chosen = [schema.default].flat().map((v) => JSON.stringify(v));
  const boxes = choices.map(([v]) => {
    const box = h('input', {type: several ? 'checkbox' : 'radio', name, required: required && !several});
    box.checked = chosen.includes(JSON.stringify(v));
    return box;
  });
  const picked = () => choices.filter((_, i) => boxes[i].checked).map(([v]) => v);
  return {
    node: h('div.choices', {role: several ? 'group' : 'radiogroup', 'aria-label': label}, choices.map(([, words], i) => h('label', boxes[i], h('span', visible(words))))),
    value: () => (several ? (picked().length || required ? picked() : undefined) : picked()[0]),
  };
}

function jsonField(schema, label, required) {
  const input = h('textarea', {'aria-label': label, required, rows: 3, placeholder: 'as JSON', spellcheck: 'false'});
  if (schema.default !== undefined) input.value = JSON.stringify(schema.default);
  const value = () => {
    try {
      return input.value.trim() ? JSON.parse(input.value) : undefined;
    } catch {
      throw new Error(`${label}: this is not JSON`);
    }
  };
  return {node: input, value};
}

// A box stands before its words, all else below them.
function fieldLabel(words, node, required) {
  if (node.type === 'checkbox') return h('label.check', node, h('span', visible(words)));
  if (node.matches('input, textarea, select')) node.id = `f${Math.random().toString(36).slice(2)}`;
  return h(node.id ? 'label.label' : 'div.label', node.id ? {for: node.id} : {}, visible(words), !required && h('span.hint', ' optional'));
}

function objectField(schema, depth) {
  const required = Array.isArray(schema.required) ? schema.required : [];
  const fields = Object.entries(schema.properties || {}).map(([name, s]) => [name, fieldFor(s, s.title || name, required.includes(name), depth + 1), s]);
  const rows = fields.map(([name, field, s]) => h('div.field', fieldLabel(s.title || name, field.node, required.includes(name)),
    s.description && h('p.hint', visible(s.description)), field.node.type !== 'checkbox' && field.node));
  const value = () => Object.fromEntries(fields.map(([name, field]) => [name, field.value()]).filter(([, v]) => v !== undefined));
  return {node: h('div.fields', rows), value};
}

function fieldFor(schema, label, required, depth) {
  const choices = choicesOf(schema);
  const type = typeOf(schema);
  const items = schema.items && choicesOf(schema.items);
  if (choices) return choices.length > CHOICES_SHOWN ? listField(choices, schema, label, required) : choiceField(choices, schema, label, required, false);
  if (type === 'boolean') return checkField(schema, label);
  if (type === 'integer' || type === 'number') return numberField(schema, label, required);
  if (type === 'string') return textField(schema, label, required, depth === 0);
  if (type === 'array' && items) return choiceField(items, schema, label, required, true);
  if (type === 'object' && schema.properties && depth < FORM_DEPTH) return objectField(schema, depth);
  return jsonField(schema, label, required);
}

// ---- the form ----

function questionForm(call, act) {
  const schema = call.schema || {type: 'string'};
  const words = visible(call.question);
  const [first, ...rest] = words.split('\n');
  const single = choicesOf(schema) || (typeOf(schema) === 'boolean' ? [[true, 'Yes'], [false, 'No']] : null);
  const buttons = single && single.length <= CHOICES_SHOWN ? single : null;
  const field = buttons ? null : fieldFor(schema, 'Answer', true, 0);
  const problem = h('p.problem', {role: 'alert', hidden: true});
  const reason = h('input', {placeholder: 'Why not (optional, the model sees it)', 'aria-label': 'Reason', maxlength: 1000});
  const say = async (approved, answer) => {
    setBusy(form, true);
    try {
      await act.answer(call.call, approved, approved ? '' : reason.value.trim(), answer);
    } catch (error) {
      setBusy(form, false);
      replace(problem, visible(error.message || String(error)));
      problem.hidden = false;
    }
  };
  const submit = (event) => {
    event.preventDefault();
    try {
      if (field) say(true, field.value());
    } catch (error) {
      replace(problem, error.message);
      problem.hidden = false;
    }
  };
  const form = h('form.approval.question', {'aria-label': words, onsubmit: submit, onkeydown: (e) => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey) && field) form.requestSubmit(); }},
    h('p.ask', call.child && `${call.childAgent || 'A sub-agent'} asks: `, first), rest.length > 0 && h('p.more', rest.join('\n').trim()), schema.description && h('p.hint', visible(schema.description)),
    buttons ? h('div.row', buttons.map(([v, label]) => h('button', {type: 'button', onclick: () => say(true, v)}, visible(label)))) : field.node, problem,
    h('div.row', field && h('button.primary', {type: 'submit'}, icon('check'), 'Answer'),
      h('button', {type: 'button', data: {answer: 'deny'}, title: 'Do not answer (X)', onclick: () => say(false)}, icon('close'), 'Do not answer'), reason));
  return form;
}
