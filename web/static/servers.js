// The upstream servers: their state, starting and stopping them, and their output.

import { get, path, post } from './api.js';
import { badge, empty, fail, fmt, h, id, replace, toast } from './dom.js';
import { Quarantine } from './quarantine.js';
import { loadCatalogue } from './state.js';

const every = 3000; // milliseconds between two requests

const states = {
  running: ['running', 'good', ''],
  failed: ['failed', 'bad', 'the last start or call failed'],
  known: ['at rest', '', 'it starts when one of its tools is called'],
  starting: ['starting', '', 'it is being started, or waits for its turn'],
  installing: ['installing', '', 'its package is being installed'],
  configured: ['not reached yet', '', 'it starts when one of its tools is called'],
};

export function serversView(host) {
  const list = h('ul', { class: 'servers' });
  const files = h('section', { class: 'section', hidden: true });
  const says = h('p', { class: 'lead' });
  const quarantine = new Quarantine();
  replace(host, h('div', { class: 'page' }, h('h2', null, 'Servers'), says, quarantine.element, list, files));
  const cards = new Map();

  async function look() {
    quarantine.look();
    try {
      const { servers } = await get('api/servers');
      show(servers);
    } catch (err) {
      says.textContent = err.message;
    }
  }

  let drawn = '';

  function show(all) {
    const servers = all.filter((s) => s.transport);
    const running = servers.filter((s) => s.state === 'running').length;
    says.textContent = servers.length ? `${running} of ${fmt.count(servers.length, 'server')} running. They start when needed, and stop when idle.` : '';
    const dumps = all.filter((s) => !s.transport);
    const now = JSON.stringify(dumps);
    files.hidden = dumps.length === 0;
    if (now !== drawn) {
      drawn = now;
      replace(files, h('h3', null, 'Known from files'), h('p', { class: 'muted' }, 'Their tools are found, but cannot be called: add the servers with tooldex servers add.'),
        h('ul', { class: 'file-servers' }, dumps.map((s) => h('li', null, h('span', null, s.server), toolsOf(s)))));
    }
    if (all.length === 0) {
      cards.clear();
      replace(list, h('li', null, empty('No servers yet', 'tooldex import FILE takes an mcpServers file, tooldex servers add a single one.')));
      return;
    }
    const names = new Set(servers.map((s) => s.server));
    for (const [name, card] of cards) {
      if (names.has(name)) continue;
      card.element.remove();
      cards.delete(name);
    }
    servers.forEach((s, i) => {
      let card = cards.get(s.server);
      if (!card) cards.set(s.server, (card = new Card(s.server, look)));
      card.show(s);
      if (list.children[i] !== card.element) list.insertBefore(card.element, list.children[i] ?? null);
    });
  }

  look();
  const timer = setInterval(() => {
    if (document.hidden) return;
    look();
    for (const c of cards.values()) c.tail();
  }, every);
  return { leave: () => clearInterval(timer) };
}

const toolsOf = (s) => h('a', { href: `#/tools?server=${encodeURIComponent(s.server)}` }, fmt.count(s.tools, 'tool'));

class Card {
  constructor(name, look) {
    this.name = name;
    this.state = h('span');
    this.facts = h('p', { class: 'facts' });
    this.error = h('p', { class: 'note bad', hidden: true });
    this.log = h('pre', { class: 'log', tabindex: '0', hidden: true, id: id('log'), 'aria-label': `Log of ${name}` });
    this.start = h('button', { type: 'button', 'aria-label': `Start ${name}`, onclick: () => this.do('start', look) }, 'Start');
    this.stop = h('button', { type: 'button', 'aria-label': `Stop ${name}`, onclick: () => this.do('stop', look), title: 'It starts again when one of its tools is called' }, 'Stop');
    this.more = h('button', { type: 'button', class: 'quiet', 'aria-label': `Log of ${name}`, 'aria-expanded': 'false', 'aria-controls': this.log.id, onclick: () => this.toggle() }, 'Log');
    this.buttons = h('div', { class: 'actions' }, this.start, this.stop, this.more);
    this.element = h('li', { class: 'card' }, h('div', { class: 'card-head' }, h('div', null, h('h3', null, name, ' ', this.state), this.facts), this.buttons), this.error, this.log);
  }

  show(s) {
    const [label, kind, title] = states[s.state] ?? [s.state, '', ''];
    replace(this.state, badge(label, kind, title));
    replace(this.facts, h('span', null, toolsOf(s)), h('span', null, s.transport));
    this.error.textContent = s.error ?? '';
    this.error.hidden = !s.error;
    this.start.hidden = s.state === 'running';
    this.stop.hidden = s.state !== 'running';
  }

  async do(what, look) {
    this.start.disabled = this.stop.disabled = true;
    const had = this.buttons.contains(document.activeElement);
    try {
      await post(path`api/servers/${this.name}` + `/${what}`);
      toast(what === 'start' ? `${this.name} runs` : `${this.name} is stopped`);
      if (what === 'start') loadCatalogue().catch(fail);
    } catch (err) {
      fail(err);
    }
    this.start.disabled = this.stop.disabled = false;
    await look();
    this.tail();
    if (had) (this.start.hidden ? this.stop : this.start).focus();
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
      replace(this.log, lines.length ? lines.map((l) => h('span', { class: `line ${l.from}` }, h('span', { class: 'time' }, `${new Date(l.time).toLocaleTimeString('en-GB')} `), l.text, '\n')) : 'No output yet.');
      if (follow) this.log.scrollTop = this.log.scrollHeight;
    } catch (err) {
      this.log.textContent = err.message;
    }
  }
}
