// highlight.js - code with a little colour: comments, strings, numbers, words of the language. One set of words serves all
// languages; what it does not know stays plain. Pure but for making nodes.

const MAX_CODE = 20000;
const HASH = /^(sh|bash|zsh|shell|console|py|python|rb|ruby|ya?ml|toml|make|makefile|dockerfile|perl|r|ini|conf|cmake|nix|elixir)$/;
const DASH = /^(sql|lua|haskell|hs|ada|elm)$/;
const PLAIN = /^(|te?xt|plain|output|log|md|markdown)$/;
const WORDS = new Set(`if else elif for while do done then fi case esac switch default break continue return goto function fn func def class
struct enum union interface trait impl type typedef namespace module package import from export use using include require extends implements
static const let var mut pub public private protected extern inline volatile unsigned signed void int char bool boolean float double long short
size_t string str self this super new delete try catch finally throw throws raise except with as in is not and or async await yield lambda
match where select insert update create table into values set null nil none true false None True False NULL nullptr echo local end begin unless
until loop move ref dyn go defer chan map range elseif pass global nonlocal assert sizeof abstract override final virtual template typename`.split(/\s+/));

const SHELL = new Set('if then else elif fi for while until do done case esac in function return export local cd echo exit set sudo'.split(' '));

function pattern(language) {
  const line = HASH.test(language) ? '#[^\\n]*' : DASH.test(language) ? '--[^\\n]*' : '\\/\\/[^\\n]*|^[ \\t]*#\\w+|\\/\\*[^]*?(?:\\*\\/|$)|<!--[^]*?(?:-->|$)';
  return new RegExp(`(${line})|("(?:[^"\\\\\\n]|\\\\.)*"?|'(?:[^'\\\\\\n]|\\\\.)*'?|\`(?:[^\`\\\\]|\\\\.)*\`?)|\\b(0[xX][\\da-fA-F]+|\\d[\\d_.]*)\\b|([A-Za-z_]\\w*)`, 'gm');
}

function diffCode(code) {
  return code.split('\n').flatMap((line, i) => {
    const kind = /^(\+\+\+|---|@@|diff )/.test(line) ? 'c' : line[0] === '+' ? 'ins' : line[0] === '-' ? 'del' : null;
    return [i ? '\n' : '', kind ? h(`span.${kind}`, line) : line];
  });
}

function highlight(code, language) {
  language = (language || '').toLowerCase();
  if (PLAIN.test(language) || code.length > MAX_CODE) return [code];
  if (language === 'diff' || language === 'patch') return diffCode(code);
  const shell = /^(sh|bash|zsh|shell|console)$/.test(language);
  const words = shell ? SHELL : WORDS;
  const out = [];
  let from = 0;
  for (const m of code.matchAll(pattern(language))) {
    const kind = m[1] ? 'c' : m[2] ? 's' : m[3] ? 'n' : words.has(m[4]) ? 'k' : !shell && code[m.index + m[0].length] === '(' ? 'f' : null;
    if (!kind) continue;
    out.push(code.slice(from, m.index), h(`span.${kind}`, m[0]));
    from = m.index + m[0].length;
  }
  out.push(code.slice(from));
  return out;
}

const languageOf = (path) => (/\.(\w{1,10})$/.exec(path || '') || [])[1] || '';

// Pieces as highlight() gives them, with a range of characters in <mark>.
function markRange(pieces, from, to) {
  let at = 0;
  return pieces.flatMap((piece) => {
    const text = typeof piece === 'string' ? piece : piece.textContent;
    const cuts = [0, from - at, to - at, text.length].map((n) => Math.max(0, Math.min(text.length, n)));
    at += text.length;
    return [0, 1, 2].map((k) => {
      const part = text.slice(cuts[k], cuts[k + 1]);
      const node = part && typeof piece !== 'string' ? h(`span.${piece.className}`, part) : part;
      return part && k === 1 ? h('mark', node) : node;
    }).filter((n) => n !== '');
  });
}
