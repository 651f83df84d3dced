// The charts of the panel, as SVG of their own: bars over time, and bars by name.

import { fmt, h } from './dom.js';

// steps of a scale that people read easily
function ceiling(most) {
  if (most <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  return [1, 2, 4, 6, 8, 10].map((m) => m * power).find((m) => m >= most);
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });

// overTime draws a bar for each point, stacked from parts: [{name, kind, of: point => number}]. Points without use are left
// out by the service, so bars stand where their time is. The window is {from, to, step} in milliseconds; without from it
// begins with the first point.
export function overTime(points, parts, { title, window }) {
  const width = innerWidth < 640 ? 340 : 400; // about as wide as it is shown, so that its text keeps its size
  const height = 140;
  const left = 40;
  const bottom = 20;
  const sums = points.map((p) => parts.reduce((n, part) => n + part.of(p), 0));
  const top = ceiling(Math.max(...sums, 0));
  const times = points.map((p) => Date.parse(p.time));
  const { step } = window;
  const from = Math.min(window.from ?? Infinity, ...times);
  const to = Math.max(window.to, Math.max(...times) + step);
  const x = (t) => left + ((t - from) / Math.max(to - from, 1)) * (width - left);
  const y = (v) => 8 + (1 - v / top) * (height - bottom - 8);
  const bar = Math.max(Math.min(x(from + step) - left - 1, 24), 1.5);
  const label = to - from > 48 * 3600e3 ? day : clock;
  const ticks = [0, 1 / 3, 2 / 3, 1].map((f) => from + f * (to - from));
  const svg = h('svg', { viewBox: `0 0 ${width} ${height}`, class: 'chart', role: 'img', 'aria-label': `${title}: ${fmt.short(sums.reduce((a, b) => a + b, 0))} in all, at most ${fmt.short(Math.max(...sums, 0))} at once` },
    (top > 1 ? [0, 0.5, 1] : [0, 1]).map((f) => [
      h('line', { x1: left, x2: width, y1: y(f * top), y2: y(f * top), class: f === 0 ? 'axis' : 'grid' }),
      h('text', { x: left - 6, y: y(f * top) + 4, class: 'tick end' }, fmt.short(f * top)),
    ]),
    ticks.map((t, i) => h('text', { x: x(t), y: height - 4, class: `tick ${i === 0 ? '' : i === 3 ? 'end' : 'middle'}` }, label.format(t))),
    points.map((p, i) => {
      let base = 0;
      return h('g', null, h('title', null, `${new Date(p.time).toLocaleString()}\n${parts.map((part) => `${part.name} ${fmt.number(part.of(p))}`).join('\n')}`), parts.map((part) => {
        const v = part.of(p);
        const rect = v > 0 && h('rect', { x: x(times[i]), width: bar, y: y(base + v), height: Math.max(y(base) - y(base + v), 1), class: `bar ${part.kind}` });
        base += v;
        return rect;
      }));
    }));
  return h('figure', { class: 'chart-box' }, h('figcaption', null, title, parts.length > 1 && h('span', { class: 'legend' }, parts.map((p) => h('span', { class: `key ${p.kind}` }, p.name)))), svg);
}

// byName draws a bar for each of the first few names. The names are text beside it, so it reads as a table.
export function byName(list, { title, most = 8, link }) {
  const shown = list.slice(0, most);
  const top = Math.max(...shown.map((t) => t.count), 1);
  return h('figure', { class: 'chart-box' }, h('figcaption', null, title),
    shown.length === 0 ? h('p', { class: 'muted' }, 'None in this time.') :
      h('ul', { class: 'bars' }, shown.map((t) => {
        const fill = h('span', { class: 'bars-fill', 'aria-hidden': 'true' });
        fill.style.inlineSize = `${(100 * t.count) / top}%`;
        return h('li', null, fill, h('span', { class: 'bars-name' }, link ? h('a', { href: link(t.name) }, t.name) : t.name), h('span', { class: 'figure' }, fmt.short(t.count)));
      })));
}
