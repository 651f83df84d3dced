// The upstream servers: their state, starting, changing and removing them, and their output.

import { get, path, post } from './api.js';
import { badge, empty, fail, fmt, h, id, replace, toast } from './dom.js';
import { Quarantine } from './quarantine.js';
import { loginServer, logLines, removeServer, serverForm } from './serverform.js';
import { loadCatalogue } from './state.js';

const every = 3000; // milliseconds between two requests

const states = {
  running: ['running', 'good', ''],
  failed: ['failed', 'bad', 'the last start or call failed'],
  known: ['at rest', '', 'it starts when one of its tools is called'],
  starting: ['starting', '', 'it is being started, or waits for its turn'],
  installing: ['installing', '', 'its package is being installed'],
  disabled: ['disabled', '', 'it is not started, and its tools are disabled'],
  configured: ['not reached yet', '', 'it starts when one of its tools is called'],
};

export function serversView(host) {
  const list = h('ul', { class: 'servers' });
  const files = h('section', { class: 'section', hidden: true });
  const says = h('p', { class: 'lead' });
  const quarantine = new Quarantine();
  const add = () => h('button', { type: 'button', class: 'primary', onclick: () => serverForm('', refresh) }, 'Add a server');
  replace(host, h('div', { class: 'page' }, h('div', { class: 'page-head' }, h('h2', null, 'Servers'), add()), says, quarantine.element, list, files));
  const cards = new Map();

  async function look() {
    quarantine.look();
    try {
      const { servers } = await get('api/servers');
      show(servers);
    } catch (err) {
      says.textContent = '';
      if (cards.size === 0) replace(list, h('li', null, empty('The servers cannot be read', err.message, err.hint ?? '')));
      else says.textContent = `This may be out of date: ${err.message}`;
    }
  }

  let drawn = '';

  // refresh shows a change of the servers and of their tools.
  function refresh() {
    loadCatalogue().catch(fail);
    return look();
  }

  function show(all) {
    const servers = all.filter((s) => s.transport);
    const running = servers.filter((s) => s.state === 'running').length;
    says.textContent = servers.length ? `${running} of ${fmt.count(servers.length, 'server')} running. They start when needed, and stop when idle.` : '';
    const dumps = all.filter((s) => !s.transport);
    const now = JSON.stringify(dumps);
    files.hidden = dumps.length === 0;
    if (now !== drawn) {
      drawn = now;
      replace(files, h('h3', null, 'Known from files'), h('p', { class: 'muted' }, 'Their tools are found, but cannot be called until the servers are added.'),
        h('ul', { class: 'file-servers' }, dumps.map((s) => h('li', null, h('span', null, s.server), toolsOf(s),
          h('button', { type: 'button', class: 'quiet small', 'aria-label': `Remove ${s.server}`, onclick: () => removeServer(s.server, refresh) }, '×')))));
    }
    if (all.length === 0) {
      cards.clear();
      if (!list.querySelector('.ways')) replace(list, h('li', null, firstStart(add())));
      return;
    }
    list.querySelector(':scope > li:not(.card)')?.remove();
    const names = new Set(servers.map((s) => s.server));
    for (const [name, card] of cards) {
      if (names.has(name)) continue;
      card.element.remove();
      cards.delete(name);
    }
    servers.forEach((s, i) => {
      let card = cards.get(s.server);
      if (!card) cards.set(s.server, (card = new Card(s.server, look, refresh)));
      card.show(s);
      if (list.children[i] !== card.element) list.insertBefore(card.element, list.children[i] ?? null);
    });
  }

  replace(list, h('li', null, empty('Loading the servers…')));
  look();
  const timer = setInterval(() => {
    if (document.hidden) return;
    look();
    for (const c of cards.values()) c.tail();
  }, every);
  return { leave: () => clearInterval(timer) };
}

// firstStart helps where nothing is configured yet.
export function firstStart(...more) {
  const ways = [
    ['tooldex connect', 'takes over the servers of Claude, Cursor, VS Code and others, and puts tooldex in their place'],
    ['tooldex servers import', 'only copies them'],
    ['tooldex import FILE', 'reads an mcpServers file, or tools from a file'],
  ];
  return h('div', { class: 'empty' }, h('p', { class: 'empty-title' }, 'No servers yet'),
    h('p', null, 'tooldex finds the tools of MCP servers. Add one here, or take over those that your clients have:'),
    h('dl', { class: 'ways' }, ways.map(([command, what]) => [h('dt', null, h('code', null, command)), h('dd', null, what)])), more);
}

const toolsOf = (s) => h('a', { href: `#/tools?server=${encodeURIComponent(s.server)}` }, fmt.count(s.tools, 'tool'));

class Card {
  constructor(name, look, refresh) {
    this.name = name;
    this.state = h('span');
    this.facts = h('p', { class: 'facts' });
    this.error = h('p', { class: 'note bad', hidden: true });
    this.log = h('pre', { class: 'log', tabindex: '0', hidden: true, id: id('log'), 'aria-label': `Log of ${name}` });
    const button = (label, onclick, props) => h('button', { type: 'button', 'aria-label': `${label} ${name}`, onclick, ...props }, label);
    this.start = button('Start', () => this.do('start', look));
    this.stop = button('Stop', () => this.do('stop', look), { title: 'It starts again when one of its tools is called' });
    this.enable = button('Enable', () => this.do('enable', refresh));
    this.disable = button('Disable', () => this.do('disable', refresh), { class: 'quiet' });
    this.login = button('Log in', () => loginServer(name, look), { class: 'quiet' });
    this.more = button('Log', () => this.toggle(), { class: 'quiet', 'aria-label': `Log of ${name}`, 'aria-expanded': 'false', 'aria-controls': this.log.id });
    this.buttons = h('div', { class: 'actions' }, this.start, this.stop, this.enable, this.login, this.more,
      button('Edit', () => serverForm(name, refresh), { class: 'quiet' }), this.disable, button('Remove', () => removeServer(name, refresh), { class: 'quiet' }));
    this.element = h('li', { class: 'card' }, h('div', { class: 'card-head' }, h('div', null, h('h3', null, name, ' ', this.state), this.facts), this.buttons), this.error, this.log);
  }

  show(s) {
    const [label, kind, title] = states[s.state] ?? [s.state, '', ''];
    const off = s.state === 'disabled';
    replace(this.state, badge(label, kind, title));
    replace(this.facts, h('span', null, toolsOf(s)), h('span', null, s.transport), s.isolated && h('span', { title: 'It runs in bubblewrap, and reaches nothing else' }, `isolated: ${s.isolated}`));
    this.error.textContent = s.error ?? '';
    this.error.hidden = !s.error;
    this.start.hidden = off || s.state === 'running';
    this.stop.hidden = s.state !== 'running';
    this.enable.hidden = !off;
    this.disable.hidden = this.more.hidden = off;
    this.login.hidden = off || s.transport === 'stdio';
    if (off && !this.log.hidden) this.toggle();
  }

  // do starts, stops, enables or disables the server, and keeps the focus on a button that is shown.
  async do(what, look) {
    const switches = [this.start, this.stop, this.enable, this.disable];
    const had = this.buttons.contains(document.activeElement); // a button that is disabled loses it
    for (const b of switches) b.disabled = true;
    try {
      await post(path`api/servers/${this.name}` + `/${what}`);
      toast(`${this.name} ${{ start: 'runs', stop: 'is stopped', enable: 'is enabled', disable: 'is disabled' }[what]}`);
      if (what === 'start') loadCatalogue().catch(fail);
    } catch (err) {
      fail(err);
    }
    for (const b of switches) b.disabled = false;
    await look();
    this.tail();
    if (had) switches.find((b) => !b.hidden)?.focus();
  }

  toggle() {
    this.log.hidden = !this.log.hidden;
    this.more.setAttribute('aria-expanded', String(!this.log.hidden));
    this.tail();
  }

  async tail() {
    if (this.log.hidden) return;
    try {
      const { lines } = await get(path`api/servers/${this.name}` + '/log');
      const follow = this.log.scrollTop + this.log.clientHeight >= this.log.scrollHeight - 30;
      replace(this.log, lines.length ? logLines(lines) : 'No output yet.');
      if (follow) this.log.scrollTop = this.log.scrollHeight;
    } catch (err) {
      this.log.textContent = err.message;
    }
  }
}
