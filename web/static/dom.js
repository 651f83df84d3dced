// Small helpers to build elements. Text is only ever set as text, so that nothing a server says can become markup.

const svgTags = new Set(['svg', 'g', 'path', 'rect', 'line', 'text', 'title', 'polyline', 'circle']);

// h makes an element. Properties that begin with "on" are listeners, those in `own` are set as properties, the rest are
// attributes; false, null and undefined leave one out. Children may be nested lists; null and false are left out.
export function h(tag, props, ...children) {
  const el = svgTags.has(tag) ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) el.addEventListener(name.slice(2), value);
    else if (own.has(name)) el[name] = value;
    else el.setAttribute(name, value === true ? '' : String(value));
  }
  append(el, children);
  return el;
}

const own = new Set(['value', 'checked', 'disabled', 'open', 'selected', 'indeterminate']);

function append(el, children) {
  for (const c of children) {
    if (Array.isArray(c)) append(el, c);
    else if (c !== null && c !== undefined && c !== false && c !== '') el.append(c);
  }
}

// replace puts children in the place of what an element holds.
export function replace(el, ...children) {
  el.replaceChildren();
  append(el, children);
  return el;
}

let ids = 0;

// id makes an id that no other element has.
export function id(prefix) {
  return `${prefix}-${++ids}`;
}

const numbers = new Intl.NumberFormat('en');
const days = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

export const fmt = {
  number: (n) => numbers.format(n),
  short: (n) => (Math.abs(n) < 10000 ? numbers.format(Math.round(n)) : compact.format(n)),
  percent: (x) => (x >= 0.9995 || x === 0 ? `${Math.round(100 * x)} %` : `${(100 * x).toFixed(x >= 0.99 || x < 0.1 ? 1 : 0)} %`),
  score: (x) => (Math.floor(100 * x) / 100).toFixed(2),
  ms: (x) => (x >= 1000 ? `${(x / 1000).toFixed(x >= 10000 ? 0 : 1)} s` : x >= 10 ? `${Math.round(x)} ms` : `${x.toFixed(1)} ms`),
  day: (time) => days.format(new Date(time)),
  tokens: (n) => `${fmt.short(n)} tokens`,
  count: (n, one, many = `${one}s`) => `${numbers.format(n)} ${n === 1 ? one : many}`,
};

// meter is a bar that is filled to a share of 0 to 1. What it says must stand beside it as text.
export function meter(share, kind = '') {
  const bar = h('span', { class: `meter ${kind}`, 'aria-hidden': 'true' }, h('span'));
  bar.firstChild.style.inlineSize = `${Math.round(100 * Math.min(Math.max(share, 0), 1))}%`;
  return bar;
}

// badge is a short mark.
export function badge(text, kind = '', title = '') {
  return h('span', { class: `badge ${kind}`, title: title || null }, text);
}

// later calls f when it has not been called for a while, with the arguments of the last call.
export function later(ms, f) {
  let timer = 0;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => f(...args), ms);
  };
}

// toast reports an event, also to screen readers.
export function toast(text, kind = '') {
  const place = document.getElementById('toast');
  const note = h('p', { class: kind }, text);
  replace(place, note);
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => note.remove(), kind === 'bad' ? 9000 : 4000);
}

// fail shows an error where there is no better place for it.
export function fail(err) {
  if (err?.name === 'AbortError') return;
  toast(err?.hint ? `${err.message} (${err.hint})` : String(err?.message ?? err), 'bad');
}

// dialog shows children in a dialog until it is closed.
export function dialog(title, ...children) {
  const name = id('dialog');
  const d = h('dialog', { 'aria-labelledby': name }, h('h2', { id: name }, title), ...children);
  d.addEventListener('close', () => d.remove());
  document.body.append(d);
  d.showModal();
  return d;
}

// empty is shown where there is nothing else.
export function empty(title, ...more) {
  return h('div', { class: 'empty' }, h('p', { class: 'empty-title' }, title), more.map((m) => (typeof m === 'string' ? h('p', null, m) : m)));
}
