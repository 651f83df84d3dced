// The record of calls and changes, as it grows, with filters.

import { get, latest } from './api.js';
import { badge, empty, fmt, h, id, later, replace } from './dom.js';

const every = 2000; // milliseconds between two requests
const most = 200; // rows that are kept

const outcomes = ['ok', 'failed', 'unconfirmed', 'denied', 'hidden', 'unknown', 'invalid', 'timeout', 'cancelled', 'error'];
const spans = [['', 'all time'], ['3600', 'last hour'], ['86400', 'last 24 hours'], ['604800', 'last 7 days']];

export function callsView(host) {
  const select = (options) => h('select', { id: id('filter') }, options.map(([v, t]) => h('option', { value: v }, t)));
  const text = (placeholder) => h('input', { id: id('filter'), spellcheck: 'false', autocomplete: 'off', placeholder });
  const kind = select([['call', 'calls'], ['change', 'changes'], ['', 'everything']]);
  const tool = text('server/tool, * for any part');
  const client = text('program, or token');
  const outcome = select([['', 'any'], ...outcomes.map((o) => [o, o])]);
  const since = select(spans);
  const live = h('input', { type: 'checkbox', checked: true });
  const status = h('p', { class: 'hint', role: 'status' });
  const body = h('div');
  const field = (el, label) => h('div', { class: 'field' }, h('label', { for: el.id }, label), el);
  replace(host, h('div', { class: 'page' },
    h('div', { class: 'page-head' }, h('h2', null, 'Calls'), h('label', { class: 'check' }, live, 'Live')),
    h('form', { class: 'row-fields', onsubmit: (e) => e.preventDefault() }, field(kind, 'Show'), field(tool, 'Tool'), field(client, 'Client'), field(outcome, 'Outcome'), field(since, 'Time')),
    status, body));

  let last = 0; // the number of the newest record that was asked for
  let rows = null; // of the table; null while it is not shown
  const filtered = () => [tool, client, outcome, since].some((el) => el.value);

  // read shows the records, or with more only those that came since.
  const read = latest(async (signal, more) => {
    if (!more) {
      last = 0;
      if (!rows) replace(body, empty('Loading the calls…'));
    }
    const from = since.value ? new Date(Date.now() - 1000 * Number(since.value)).toISOString().replace(/\.\d+/, '') : '';
    try {
      const got = await get('api/audit', { kind: kind.value, tool: tool.value.trim(), client: client.value.trim(), outcome: outcome.value, since: from, after: last || undefined, limit: most }, signal);
      last = got.last;
      if (!more) rows = null;
      if (got.records.length) add(got.records);
      else if (!rows) replace(body, empty(filtered() ? 'No call passes these filters' : 'No calls yet', filtered() ? '' : 'Calls of agents, of this panel and of tooldex call are shown here.'));
      status.textContent = rows ? `${fmt.count(rows.children.length, 'record')}, newest first` : '';
    } catch (err) {
      if (err.name === 'AbortError') return;
      status.textContent = '';
      if (more && rows) status.textContent = `This may be out of date: ${err.message}`;
      else {
        rows = null;
        replace(body, empty(err.status === 404 ? 'Calls cannot be shown' : 'The calls cannot be read', err.message, err.hint ?? ''));
      }
    }
  });

  function add(records) {
    if (!rows) {
      rows = h('tbody');
      replace(body, h('div', { class: 'table-scroll', tabindex: '0', role: 'region', 'aria-label': 'Calls' }, h('table', { class: 'list' },
        h('thead', null, h('tr', null, ['Time', 'Client', 'What', 'Outcome', 'Error', 'Took'].map((t, i) => h('th', { scope: 'col', class: i === 5 ? 'num' : null }, t)))), rows)));
    }
    for (const r of records) rows.prepend(row(r));
    while (rows.children.length > most) rows.lastChild.remove();
  }

  const soon = later(250, () => read(false));
  for (const el of [tool, client]) el.addEventListener('input', soon);
  for (const el of [kind, outcome, since]) el.addEventListener('change', () => read(false));
  read(false);
  const timer = setInterval(() => live.checked && !document.hidden && read(rows !== null), every);
  return { leave: () => clearInterval(timer) };
}

function row(r) {
  const who = r.who ?? {};
  const what = r.tool ? h('a', { href: `#/tools?tool=${encodeURIComponent(r.tool)}` }, r.tool) : h('span', null, r.name ?? ([r.action, r.subject].filter(Boolean).join(' ') || r.kind));
  return h('tr', null,
    h('td', { class: 'num' }, h('time', { datetime: r.time }, fmt.day(r.time))),
    h('td', null, who.client || who.via || '–', who.version && h('span', { class: 'muted' }, ` ${who.version}`), (who.principal || who.profile) && h('span', { class: 'muted' }, ` · ${[who.principal, who.profile].filter(Boolean).join(', ')}`)),
    h('th', { scope: 'row' }, what, r.kind !== 'call' && [' ', badge(r.kind)]),
    h('td', null, r.outcome && badge(r.outcome, r.outcome === 'ok' ? 'good' : r.outcome === 'unconfirmed' || r.outcome === 'cancelled' ? 'warn' : 'bad')),
    h('td', null, [r.code, r.reason, r.lost && `${r.lost} records are missing`].filter(Boolean).join(', ')),
    h('td', { class: 'num' }, r.ms ? fmt.ms(r.ms) : ''));
}
