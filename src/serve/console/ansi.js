// ansi.js - output of programs. Colours of terminals become classes; all else that steers a terminal is left out, and a
// line that was written over is shown as it was last. Pure but for making nodes.

const ANSI = /\x1b\[([0-9;]*)m|\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?|[\x00-\x08\x0b-\x1f\x7f]/g;
const MAX_SPANS = 4000;

function lastWritten(text) {
  if (!text.includes('\r')) return text;
  return text.replace(/\r+\n/g, '\n').split('\n').map((line) => line.slice(line.lastIndexOf('\r', line.length - 2) + 1)).join('\n');
}

// The numbers between ESC [ and m, applied to what is in force.
function restyle(style, codes) {
  const list = codes === '' ? [0] : codes.split(';').map(Number);
  for (let i = 0; i < list.length; i++) {
    const n = list[i];
    if (n === 0) style = {};
    else if (n === 1) style = {...style, bold: true};
    else if (n === 2) style = {...style, dim: true};
    else if (n === 3 || n === 4) style = {...style, [n === 3 ? 'italic' : 'line']: true};
    else if (n === 22) style = {...style, bold: false, dim: false};
    else if (n === 23 || n === 24) style = {...style, [n === 23 ? 'italic' : 'line']: false};
    else if (n >= 30 && n <= 37) style = {...style, colour: n - 30};
    else if (n >= 90 && n <= 97) style = {...style, colour: n - 90};
    else if (n === 39) style = {...style, colour: undefined};
    else if (n === 38 || n === 48) {
      if (list[i + 1] === 5 && n === 38) style = {...style, colour: list[i + 2] < 16 ? list[i + 2] % 8 : undefined};
      i += list[i + 1] === 5 ? 2 : list[i + 1] === 2 ? 4 : 0;
    }
  }
  return style;
}

function styled(text, style) {
  const names = [style.colour !== undefined && `a${style.colour}`, style.bold && 'ab', style.dim && 'ad', style.italic && 'ai', style.line && 'al'].filter(Boolean);
  return names.length ? h(`span.${names.join('.')}`, text) : text;
}

function ansi(text) {
  text = lastWritten(text);
  const out = [];
  let style = {};
  let from = 0;
  for (const m of text.matchAll(ANSI)) {
    if (m.index > from) out.push(styled(text.slice(from, m.index), style));
    from = m.index + m[0].length;
    if (m[1] !== undefined && out.length < MAX_SPANS) style = restyle(style, m[1]);
  }
  if (from < text.length) out.push(styled(text.slice(from), style));
  return out;
}
