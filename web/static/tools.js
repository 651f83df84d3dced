// The tools view: search results as one types, and otherwise the whole catalogue by category or server.

import { get, latest } from './api.js';
import { badge, empty, fail, fmt, h, later, meter, replace } from './dom.js';
import { WindowedList } from './list.js';
import { firstStart } from './servers.js';
import { catalogue, categoryOf, local, onCatalogue } from './state.js';
import { toolPage } from './tool.js';

const most = 25; // results

export function toolsView(host, params) {
  const q = h('input', {
    id: 'q', type: 'search', role: 'combobox', 'aria-expanded': 'false', 'aria-controls': 'results', 'aria-autocomplete': 'list', 'aria-label': 'Search tools',
    autocomplete: 'off', spellcheck: 'false', placeholder: 'What should the tool do?', value: params.get('q') ?? '',
  });
  const server = h('select', { 'aria-label': 'Server' });
  const readOnly = h('input', { type: 'checkbox' });
  const why = h('button', { type: 'button', class: 'toggle', 'aria-pressed': String(local.get('why', false)), title: 'Explain each score' }, 'Why');
  const group = h('select', { 'aria-label': 'Group by' }, h('option', { value: 'category' }, 'by category'), h('option', { value: 'server' }, 'by server'));
  group.value = grouping();
  const status = h('p', { class: 'list-status', role: 'status' });
  const results = h('div', { id: 'results', class: 'results', role: 'listbox', 'aria-label': 'Results', hidden: true });
  const treeHost = h('div', { class: 'tree', role: 'tree', tabindex: '0', 'aria-label': 'All tools' });
  const advice = h('div', { class: 'advice', hidden: true });
  const help = firstStart(h('p', null, h('a', { href: '#/servers' }, 'Add a server')));
  const detail = h('section', { class: 'pane detail', 'aria-label': 'Tool' });
  const split = h('div', { class: 'split' },
    h('section', { class: 'pane finder', 'aria-label': 'Find tools' },
      h('div', { class: 'search' }, q, h('div', { class: 'search-options' }, server, group, h('label', { class: 'check' }, readOnly, 'read-only'), why)),
      status, h('div', { class: 'results-scroll', hidden: true, tabindex: '0', role: 'region', 'aria-label': 'Search results' }, advice, results), treeHost, help),
    detail);
  const resultsScroll = results.parentElement;
  replace(host, split);

  const tree = new Tree(treeHost, (t) => open(t.id));
  const found = new Results(results, (hit) => open(hit.id));
  let page = null; // the tool page that is shown
  let current = '';

  // The address holds the search and the open tool, so that a reload shows the same.
  let handled = location.hash; // what this view shows
  const address = later(200, () => {
    // A link counts whose event is still to come.
    if (!split.isConnected || location.hash !== handled) return;
    const p = new URLSearchParams();
    if (q.value.trim()) p.set('q', q.value.trim());
    if (server.value) p.set('server', server.value);
    if (current) p.set('tool', current);
    const next = `#/tools${p.size ? `?${p}` : ''}`;
    if (location.hash !== next) history.replaceState(null, '', next);
    handled = location.hash;
  });

  // showList shows the catalogue unless there is a search, or help if the catalogue is empty.
  function showList() {
    const nothing = catalogue.loaded && catalogue.items.length === 0;
    treeHost.hidden = q.value.trim() !== '' || nothing;
    help.hidden = q.value.trim() !== '' || !nothing;
  }

  function open(id, focus = true) {
    current = id;
    page?.leave();
    split.dataset.open = 'detail';
    page = toolPage(detail, id, { open, close, focus });
    tree.mark(id);
    found.mark(id);
    address();
  }

  function close() {
    page?.leave();
    page = null;
    current = '';
    delete split.dataset.open;
    welcome(detail);
    address();
    tree.mark('');
    found.mark('');
    (q.value.trim() ? q : treeHost).focus();
  }

  const run = latest(async (signal) => {
    const text = q.value.trim();
    const searching = text !== '';
    resultsScroll.hidden = results.hidden = !searching;
    showList();
    group.hidden = searching;
    q.setAttribute('aria-expanded', String(searching));
    if (!searching) {
      q.removeAttribute('aria-activedescendant');
      tree.filter(server.value, readOnly.checked);
      status.textContent = tree.says();
      return;
    }
    try {
      const res = await get('search', { q: text, limit: most, explain: true, trial: true, server: server.value, read_only: readOnly.checked || undefined }, signal);
      found.show(res, why.getAttribute('aria-pressed') === 'true');
      found.mark(current);
      resultsScroll.scrollTop = 0;
      showAdvice(advice, res, (category) => {
        q.value = '';
        tree.expandOnly(category);
        group.value = 'category';
        tree.group('category');
        run();
      });
      status.textContent = res.degraded ? `Searched by words only: ${res.degraded}` : says(res);
    } catch (err) {
      if (err.name === 'AbortError') return;
      found.show({ tools: [] }, false);
      status.textContent = err.message;
    }
  });
  const soon = later(80, run);

  q.addEventListener('input', () => {
    soon();
    address();
  });
  q.addEventListener('keydown', (e) => {
    if (e.key === 'Escape' && q.value) {
      q.value = '';
      run();
      address();
    } else if (treeHost.hidden ? !found.key(e) : e.key !== 'ArrowDown') return;
    else if (!treeHost.hidden) treeHost.focus();
    e.preventDefault();
    if (found.active) q.setAttribute('aria-activedescendant', found.active);
  });
  for (const el of [server, readOnly]) {
    el.addEventListener('change', () => {
      run();
      address();
    });
  }
  group.addEventListener('change', () => {
    local.set('group', group.value);
    tree.group(group.value);
  });
  why.addEventListener('click', () => {
    const on = why.getAttribute('aria-pressed') !== 'true';
    why.setAttribute('aria-pressed', String(on));
    local.set('why', on);
    found.explain(on);
  });
  split.addEventListener('keydown', (e) => {
    if (e.key === 'Escape' && page && !e.defaultPrevented && !document.querySelector('dialog[open]')) {
      close();
      e.preventDefault();
    }
  });

  let wanted = params.get('server') ?? ''; // until the catalogue is read

  function refresh() {
    const chosen = server.value || wanted;
    const names = [...new Set(catalogue.items.map((t) => t.server))].sort();
    replace(server, h('option', { value: '' }, 'all servers'), names.map((n) => h('option', { value: n }, n)));
    server.value = names.includes(chosen) ? chosen : '';
    if (server.value === wanted) wanted = '';
    group.value = grouping();
    tree.group(group.value);
    tree.filter(server.value, readOnly.checked);
    if (!q.value.trim()) status.textContent = tree.says();
    if (current) tree.mark(current);
    showList();
  }
  const stop = onCatalogue(refresh);
  welcome(detail);
  refresh();
  if (q.value) run();
  if (params.get('tool')) open(params.get('tool'), false);
  else if (matchMedia('(min-width: 60rem)').matches) q.focus();

  return {
    leave: () => {
      stop();
      page?.leave();
    },
    update: (p) => {
      handled = location.hash;
      if ((p.get('q') ?? '') !== q.value.trim()) {
        q.value = p.get('q') ?? '';
        run();
      }
      const id = p.get('tool') ?? '';
      if (id && id !== current) open(id);
      else if (!id && current) close();
    },
  };
}

// grouping returns the user's choice, or else by category if there are several.
function grouping() {
  const several = catalogue.items.some((t) => categoryOf(t) !== categoryOf(catalogue.items[0]));
  return local.get('group', several || !catalogue.items.length ? 'category' : 'server');
}

function welcome(detail) {
  replace(detail, empty('No tool selected', 'Search, or choose one from the list.', h('p', null, h('kbd', null, '/'), ' searches from anywhere.')));
}

function says(res) {
  const n = fmt.count(res.tools.length, 'tool');
  return res.confident ? `${n}, best first · ${fmt.tokens(res.tokens)} to read` : `${n} near, none fits`;
}

// showAdvice says that nothing fits, and what to try.
function showAdvice(place, res, openCategory) {
  const a = res.advice;
  place.hidden = res.confident && !a;
  if (place.hidden) return;
  const lines = [];
  if (a?.notUnderstood?.length) lines.push(['Not understood', a.notUnderstood.map((w) => h('span', { class: 'chip' }, w))]);
  if (a?.kinds?.length) lines.push(['Kinds of servers that would help', a.kinds.map((k) => h('span', { class: 'chip' }, k))]);
  if (a?.categories?.length) lines.push(['Nearest categories here', a.categories.map((c) => h('button', { type: 'button', class: 'chip', onclick: () => openCategory(c) }, c))]);
  replace(place,
    h('p', { class: 'advice-title' }, res.confident ? 'There may be more' : 'No tool here fits'),
    // The message says the same in a sentence.
    a?.message && lines.length === 0 && h('p', null, a.message),
    lines.length > 0 && h('dl', null, lines.map(([what, chips]) => h('div', null, h('dt', null, what), h('dd', null, chips)))),
    (a?.unseen ?? []).map((u) => h('p', { class: 'unseen' }, u.text)));
}

// Results lists the tools that a search found.
class Results {
  constructor(host, choose) {
    this.host = host;
    this.choose = choose;
    this.hits = [];
    this.at = -1;
    host.addEventListener('click', (e) => {
      const option = e.target.closest('[role=option]');
      if (!option) return;
      this.move(Number(option.dataset.at));
      choose(this.hits[this.at]);
    });
  }

  get active() {
    return this.at >= 0 ? `hit-${this.at}` : '';
  }

  show(res, why) {
    this.hits = res.tools;
    this.at = -1;
    this.host.classList.toggle('unsure', res.confident === false);
    this.host.classList.toggle('explained', why);
    replace(this.host, this.hits.map((hit, i) => option(hit, i)));
  }

  explain(on) {
    this.host.classList.toggle('explained', on);
  }

  mark(id) {
    this.hits.forEach((hit, i) => this.host.children[i]?.classList.toggle('open', hit.id === id));
  }

  move(i) {
    this.host.children[this.at]?.setAttribute('aria-selected', 'false');
    this.at = i;
    const el = this.host.children[i];
    el?.setAttribute('aria-selected', 'true');
    el?.scrollIntoView({ block: 'nearest' });
  }

  // key handles a key, and reports whether it did.
  key(e) {
    const last = this.hits.length - 1;
    if (last < 0) return false;
    if (e.key === 'ArrowDown') this.move(Math.min(this.at + 1, last));
    else if (e.key === 'ArrowUp') this.move(Math.max(this.at - 1, 0));
    else if (e.key === 'Enter') {
      this.move(Math.max(this.at, 0));
      this.choose(this.hits[this.at]);
    } else return false;
    return true;
  }
}

function option(hit, i) {
  const item = catalogue.byID.get(hit.id);
  return h('div', { id: `hit-${i}`, role: 'option', class: 'hit', 'aria-selected': 'false', 'data-at': i },
    h('div', { class: 'hit-head' }, h('span', { class: 'name' }, hit.name, hit.deprecated && badge('deprecated', 'warn', hit.deprecated)), h('span', { class: 'score', title: 'probability that it fits, 0 to 1' }, meter(hit.score), fmt.score(hit.score))),
    h('p', { class: 'hit-summary' }, hit.summary || h('span', { class: 'muted' }, 'no description')),
    h('p', { class: 'hit-facts' }, h('span', null, hit.server), h('span', null, hit.category || 'other'), item && h('span', null, fmt.tokens(item.tokens)),
      hit.also?.length > 0 && h('span', { title: hit.also.join('\n') }, `also ${hit.also.join(', ')}`)),
    hit.explain && reasons(hit.explain));
}

function reasons(x) {
  const terms = Object.entries(x.terms ?? {}).filter(([, v]) => v > 0).sort((a, b) => b[1] - a[1]).slice(0, 6);
  const top = terms.length ? terms[0][1] : 1;
  const lent = (x.borrowed ?? []).slice(0, 3).map((l) => l.archetype);
  return h('dl', { class: 'why' },
    x.exact && [h('dt', null, 'name'), h('dd', null, 'the request names this tool')],
    x.contrary && [h('dt', null, 'but'), h('dd', null, 'it does something else than was asked')],
    h('dt', null, 'words'), h('dd', null, terms.length ? terms.map(([w, v]) => h('span', { class: 'chip' }, w, meter(v / top))) : 'no word of the request', h('span', { class: 'figure' }, x.keyword.toFixed(1))),
    h('dt', null, 'meaning'), h('dd', null, meter(x.semantic), h('span', { class: 'figure' }, `${x.semantic.toFixed(2)} cosine, weight ${x.weight.toFixed(2)}`)),
    lent.length > 0 && [h('dt', null, 'borrowed from'), h('dd', null, lent.join(', '))]);
}

// Tree shows the catalogue as groups of tools. Only the rows in sight are elements.
class Tree {
  constructor(host, choose) {
    this.host = host;
    this.choose = choose;
    this.by = 'category';
    this.server = '';
    this.readOnly = false;
    this.expanded = new Set(local.get('expanded', []));
    this.closed = new Set();
    this.at = 0;
    this.marked = '';
    this.groups = [];
    this.list = new WindowedList(host, { heightOf: (row) => (row.tool ? 46 : 34), make: (row, i) => this.row(row, i) });
    host.addEventListener('click', (e) => {
      const el = e.target.closest('[role=treeitem]');
      if (!el) return;
      this.move(Number(el.dataset.at));
      this.act();
    });
    host.addEventListener('keydown', (e) => this.key(e) && e.preventDefault());
    host.addEventListener('focus', () => this.move(this.at));
  }

  group(by) {
    this.by = by;
    this.build();
  }

  filter(server, readOnly) {
    this.server = server;
    this.readOnly = readOnly;
    this.build();
  }

  expandOnly(name) {
    this.expanded = new Set([`category ${name}`]);
  }

  build() {
    const groups = new Map();
    for (const t of catalogue.items) {
      if ((this.server && t.server !== this.server) || (this.readOnly && !t.readOnly)) continue;
      const name = this.by === 'server' ? t.server : categoryOf(t);
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(t);
    }
    this.groups = [...groups].sort((a, b) => (a[0] < b[0] ? -1 : 1));
    this.flatten();
  }

  flatten() {
    const rows = [];
    this.groups.forEach(([name, tools], g) => {
      const open = this.isOpen(name);
      rows.push({ name, tools, open, position: g + 1, of: this.groups.length });
      if (open) tools.forEach((tool, i) => rows.push({ tool, position: i + 1, of: tools.length }));
    });
    this.at = Math.min(this.at, Math.max(rows.length - 1, 0));
    this.list.set(rows);
    this.active();
  }

  // isOpen returns whether a group shows its tools. The only one does, unless somebody closed it.
  isOpen(name) {
    return this.expanded.has(`${this.by} ${name}`) || (this.groups.length === 1 && !this.closed.has(name));
  }

  says() {
    const tools = this.groups.reduce((n, [, list]) => n + list.length, 0);
    if (catalogue.error) return `The tools cannot be read: ${catalogue.error}`;
    if (!catalogue.loaded) return 'Loading the catalogue…';
    if (tools === 0) return catalogue.items.length ? 'No tool passes these filters' : 'No tools yet';
    return `${fmt.count(tools, 'tool')} in ${this.by === 'server' ? fmt.count(this.groups.length, 'server') : fmt.count(this.groups.length, 'category', 'categories')}`;
  }

  row(row, i) {
    const common = {
      id: `row-${i}`, role: 'treeitem', 'data-at': i, 'aria-posinset': row.position, 'aria-setsize': row.of, 'aria-level': row.tool ? 2 : 1,
      'aria-selected': String(row.tool?.id === this.marked && Boolean(row.tool)),
    };
    const at = i === this.at ? ' at' : '';
    if (!row.tool) {
      return h('div', { ...common, class: `row group${at}`, 'aria-expanded': String(row.open) },
        h('span', { class: 'twist', 'aria-hidden': 'true' }), h('span', { class: 'group-name' }, row.name), h('span', { class: 'figure' }, fmt.number(row.tools.length)));
    }
    const t = row.tool;
    return h('div', { ...common, class: `row leaf${at}${t.disabled ? ' off' : ''}` },
      h('span', { class: 'name' }, t.name, t.disabled && badge('off'), t.deprecated && badge('deprecated', 'warn', t.deprecated)),
      h('span', { class: 'row-summary' }, this.by === 'category' && h('span', { class: 'row-server' }, t.server), t.summary || ''));
  }

  mark(id) {
    this.marked = id;
    this.list.redraw();
  }

  active() {
    if (this.list.rows.length) this.host.setAttribute('aria-activedescendant', `row-${this.at}`);
    else this.host.removeAttribute('aria-activedescendant');
  }

  move(i) {
    if (i < 0 || i >= this.list.rows.length) return;
    this.at = i;
    this.list.reveal(i);
    for (const [n, el] of this.list.shown) el.classList.toggle('at', n === i);
    this.active();
  }

  act() {
    const row = this.list.rows[this.at];
    if (!row) return;
    if (row.tool) this.choose(row.tool);
    else this.toggle(row, !row.open);
  }

  toggle(row, open) {
    const key = `${this.by} ${row.name}`;
    if (open) {
      this.expanded.add(key);
      this.closed.delete(row.name);
    } else {
      this.expanded.delete(key);
      this.closed.add(row.name);
    }
    local.set('expanded', [...this.expanded].slice(-200));
    this.flatten();
  }

  // key handles a key, and reports whether it did.
  key(e) {
    const { rows } = this.list;
    const row = rows[this.at];
    if (!row || e.ctrlKey || e.metaKey || e.altKey) return false;
    const visible = Math.max(Math.floor(this.host.clientHeight / 46) - 1, 1);
    switch (e.key) {
      case 'ArrowDown': this.move(this.at + 1); break;
      case 'ArrowUp': this.move(this.at - 1); break;
      case 'PageDown': this.move(Math.min(this.at + visible, rows.length - 1)); break;
      case 'PageUp': this.move(Math.max(this.at - visible, 0)); break;
      case 'Home': this.move(0); break;
      case 'End': this.move(rows.length - 1); break;
      case 'ArrowRight':
        if (row.tool) return false;
        if (row.open) this.move(this.at + 1);
        else this.toggle(row, true);
        break;
      case 'ArrowLeft':
        if (row.tool) this.move(rows.findLastIndex((r, i) => i < this.at && !r.tool));
        else if (row.open) this.toggle(row, false);
        break;
      case 'Enter': case ' ': this.act(); break;
      default: return false;
    }
    return true;
  }
}
