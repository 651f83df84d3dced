// Requests and calls in a window of time, and the searches that found nothing.

import { get, latest, path, put } from './api.js';
import { byName, overTime } from './charts.js';
import { badge, empty, fail, fmt, h, meter, replace, toast } from './dom.js';
import { tile } from './selection.js';
import { local } from './state.js';
import { addSaying } from './words.js';

const minute = 60e3;
const hour = 60 * minute;

// The windows: name, label, length and the service's step, in milliseconds.
const windows = [['1h', 'last hour', hour, minute], ['24h', 'last 24 hours', 24 * hour, hour], ['7d', 'last 7 days', 7 * 24 * hour, hour], ['all', 'all time', 0, hour]];

const every = 10000; // milliseconds between two requests

export function activityView(host) {
  const choice = h('select', { 'aria-label': 'Time' }, windows.map(([value, label]) => h('option', { value }, label)));
  choice.value = local.get('window', '24h');
  const body = h('div', null, empty('Loading the activity…'));
  replace(host, h('div', { class: 'page' }, h('div', { class: 'page-head' }, h('h2', null, 'Activity'), choice), body));
  let drawn = '';
  const run = latest(async (signal) => {
    try {
      const m = await get('api/metrics', { window: choice.value }, signal);
      const now = JSON.stringify(m);
      if (now === drawn) return; // keep what a person is reading or filling in
      drawn = now;
      draw(body, m);
    } catch (err) {
      if (err.name === 'AbortError') return;
      drawn = '';
      replace(body, empty(err.status === 404 ? 'This server collects no metrics' : 'It cannot be shown', err.message));
    }
  });
  choice.addEventListener('change', () => {
    local.set('window', choice.value);
    run();
  });
  run();
  const timer = setInterval(() => document.hidden || body.contains(document.activeElement) || run(), every);
  return { leave: () => clearInterval(timer) };
}

function draw(body, m) {
  if (m.totalRequests === 0 && m.calls === 0) {
    replace(body, empty('No requests in this time', 'Requests from agents are counted; tests in this panel are not.'));
    return;
  }
  const [, , span, step] = windows.find(([value]) => value === m.window) ?? windows[3];
  const time = { from: span ? Date.now() - span : undefined, to: Date.now(), step };
  const points = m.series ?? [];
  replace(body,
    h('div', { class: 'tiles' },
      tile('Requests', fmt.short(m.totalRequests), `${fmt.short(m.searches)} searches, ${fmt.short(m.selections)} selections`),
      tile('Tools per request', m.averageToolsUsed.toFixed(1)),
      tile('Tokens saved', fmt.short(m.tokenSavings), `${fmt.short(m.tokensUsed)} used`),
      tile('Cache hit rate', m.selections ? fmt.percent(m.cacheHitRate) : '–', m.selections ? `of ${fmt.short(m.selections)}` : 'no selections'),
      tile('Found nothing', fmt.short(m.foundNothing), m.searches ? fmt.percent(m.foundNothing / m.searches) : ''),
      tile('Calls', fmt.short(m.calls), m.errors ? `${fmt.short(m.errors)} failed` : 'none failed'),
      tile('Search time', fmt.ms(m.searchLatency.p50Ms), `99 % within ${fmt.ms(m.searchLatency.p99Ms)}`)),
    m.degraded > 0 && h('p', { class: 'note warn' }, `${fmt.count(m.degraded, 'search', 'searches')} used words only: the embedder did not answer.`),
    points.length > 0 && h('div', { class: 'charts three' },
      overTime(points, [{ name: 'requests', kind: 'a', of: (p) => p.requests - p.foundNothing }, { name: 'found nothing', kind: 'c', of: (p) => p.foundNothing }], { title: 'Requests', window: time }),
      overTime(points, [{ name: 'calls', kind: 'b', of: (p) => p.calls - p.errors }, { name: 'failed', kind: 'd', of: (p) => p.errors }], { title: 'Calls', window: time }),
      overTime(points, [{ name: 'tokens', kind: 'a', of: (p) => p.tokenSavings }], { title: 'Tokens saved', window: time })),
    h('div', { class: 'charts' },
      byName(m.mostUsedTools ?? [], { title: 'Most used tools', link: (name) => `#/tools?tool=${encodeURIComponent(name)}` }),
      byName(m.toolsByCategory ?? [], { title: 'Tools selected, by category' })),
    servers(m.servers ?? []),
    fruitless(m.fruitless ?? [], m.foundNothing));
}

function servers(list) {
  if (list.length === 0) return null;
  const slowest = Math.max(...list.map((s) => s.latency.p99Ms), 1);
  return h('section', { class: 'section' }, h('h3', null, 'Servers, failing and slow first'),
    h('div', { class: 'table-scroll', tabindex: '0', role: 'region', 'aria-label': 'Servers' }, h('table', { class: 'list' },
      h('thead', null, h('tr', null, ['Server', 'Calls', 'Failed', 'Median', '99 %'].map((t, i) => h('th', { scope: 'col', class: i ? 'num' : null }, t)))),
      h('tbody', null, list.map((s) => h('tr', null,
        h('th', { scope: 'row' }, s.server), h('td', { class: 'num' }, fmt.short(s.calls)),
        h('td', { class: 'num' }, s.errors ? badge(`${fmt.short(s.errors)} · ${fmt.percent(s.errorRate)}`, 'bad') : '0'),
        h('td', { class: 'num' }, fmt.ms(s.latency.p50Ms)),
        h('td', { class: 'num' }, meter(s.latency.p99Ms / slowest, 'plain'), fmt.ms(s.latency.p99Ms))))))));
}

// fruitless lists the searches that found nothing, each with the nearest tools: one click adds the request to a tool.
function fruitless(list, count) {
  const body = h('ul', { class: 'fruitless' });
  for (const t of list.slice(0, 20)) {
    const place = h('span', { class: 'teach' }, h('span', { class: 'muted' }, '…'));
    body.append(h('li', null, h('span', { class: 'saying' }, t.name), h('span', { class: 'figure' }, `${fmt.short(t.count)}×`), place));
    nearest(t.name, place);
  }
  return h('section', { class: 'section' }, h('h3', null, 'Searches that found nothing'),
    list.length ? [h('p', { class: 'muted' }, 'If a tool fits, choose it: it is then found by that request.'), body]
      : h('p', { class: 'muted' }, count > 0 ? 'Their texts are not stored.' : 'None in this time.'));
}

async function nearest(text, place) {
  try {
    const { tools } = await get('search', { q: text, limit: 6, trial: true });
    if (tools.length === 0) {
      replace(place, h('span', { class: 'muted' }, 'no similar tool'));
      return;
    }
    const which = h('select', { 'aria-label': `Tool for “${text}”` }, tools.map((t) => h('option', { value: t.id }, t.id)));
    const teach = h('button', { type: 'button' }, 'Add');
    teach.addEventListener('click', async () => {
      teach.disabled = true;
      try {
        const at = path`api/overlays/${which.value}`;
        const overlay = await get(at);
        addSaying(overlay, 'utterance', text);
        await put(at, overlay);
        replace(place, badge(`finds ${which.value} now`, 'good'));
        toast(`${which.value} is now found by “${text}”`);
      } catch (err) {
        teach.disabled = false;
        fail(err);
      }
    });
    replace(place, which, teach);
  } catch (err) {
    replace(place, h('span', { class: 'muted' }, err.message));
  }
}
