// signin.js - the page before it knows a token.

// A server with a token file says so in a comment before the document (page.c).
function whereTokensAre() {
  const first = document.firstChild;
  if (first.nodeType === Node.COMMENT_NODE && first.data === ' tokens: file ')
    return h('p', 'This server knows its callers by a token file. Use the token that you were given; whoever runs the server can look it up in, or add it to, the file named by ', h('code', '--token-file'), '.');
  return h('p', 'Its first start showed the address of this page with the token in it. The token also stands in the file ', h('code', 'server-token'),
    ' of hob’s state folder, usually ', h('code', '~/.local/state/hob'), ' (each start says where); where ', h('code', 'HOB_SERVER_TOKEN'), ' or ', h('code', 'server.token'), ' of the configuration is set, that is the token.');
}

function signInPage(message, open) {
  const field = h('input', {type: 'password', name: 'token', autocomplete: 'current-password', required: true, 'aria-label': 'Token', placeholder: 'Token', 'aria-invalid': message ? 'true' : null});
  const keepIt = h('input', {type: 'checkbox', id: 'keep'});
  const form = h('form.signin', {onsubmit: (event) => {
    event.preventDefault();
    token.set(field.value.trim(), keepIt.checked);
    open();
  }}, h('h1', logo(), 'hob'), h('p.hint', 'The console of a hob server. Its token lets you in.'), message && h('p.error', {role: 'alert'}, message), field,
  h('label', {for: 'keep'}, keepIt, 'Keep me signed in on this device'), h('button.primary', 'Open'),
  h('details', h('summary', 'Where do I find the token?'), whereTokensAre()));
  replace(document.body, h('main.door', form));
  field.focus();
}

function logo() {
  const svg = icon('menu');
  svg.classList.add('logo');
  svg.firstChild.setAttribute('d', 'M6 3v14M6 12c0-4 8-5 8 1v4');
  return svg;
}

const theme = {
  names: {system: 'Theme: as the system', light: 'Theme: light', dark: 'Theme: dark'},
  chosen: () => localStorage.getItem('hob.theme') || 'system',
  apply() {
    if (this.chosen() === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = this.chosen();
  },
  next() {
    const all = Object.keys(this.names);
    localStorage.setItem('hob.theme', all[(all.indexOf(this.chosen()) + 1) % all.length]);
    this.apply();
    return this.names[this.chosen()];
  },
};
