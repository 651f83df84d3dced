// Who you are here, who is connected, and who may be.

import { forgetToken, get, hasToken } from './api.js';
import { badge, empty, fmt, h, replace } from './dom.js';

const every = 5000; // milliseconds between two requests

// signOut forgets the token and asks for another.
function signOut() {
  forgetToken();
  location.reload();
}

export function accessView(host) {
  const me = h('div', null, empty('Loading…'));
  const others = h('div');
  replace(host, h('div', { class: 'page' }, h('h2', null, 'Access'), me, others));
  let drawn = '';

  async function look() {
    try {
      const who = await get('api/whoami');
      const report = await get('api/access').catch((err) => err);
      const now = JSON.stringify([who, report]);
      if (now === drawn) return; // keep what a person is reading
      drawn = now;
      replace(me, self(who));
      replace(others, report instanceof Error ? h('p', { class: 'note' }, `${report.message}. ${report.hint ?? ''}`) : [clients(report.clients), tokens(report.tokens), profiles(report.profiles)]);
    } catch (err) {
      drawn = '';
      replace(others);
      replace(me, empty('It cannot be read', err.message, err.hint ?? ''));
    }
  }

  look();
  const timer = setInterval(() => document.hidden || host.querySelector('table:focus-within') || look(), every);
  return { leave: () => clearInterval(timer) };
}

function self(who) {
  const may = who.readOnly ? 'may look, and call tools that only read' : 'may change everything';
  return h('section', { class: 'section' }, h('h3', null, 'You'),
    h('p', null, who.guarded ? h('strong', null, who.name) : 'No token is needed here.', ' ', who.profile && badge(`profile ${who.profile}`), ' ',
      h('span', { class: 'muted' }, who.profile ? `You see the tools of one profile, and ${may} of it.` : `You ${may}.`)),
    h('p', { class: 'hint' }, `tooldex ${who.version}`),
    hasToken() && h('p', null, h('button', { type: 'button', onclick: signOut }, 'Sign out')));
}

function table(title, none, heads, rows) {
  return h('section', { class: 'section' }, h('h3', null, title), rows.length === 0 ? h('p', { class: 'muted' }, none) :
    h('div', { class: 'table-scroll', tabindex: '0', role: 'region', 'aria-label': title }, h('table', { class: 'list' },
      h('thead', null, h('tr', null, heads.map((t) => h('th', { scope: 'col' }, t)))),
      h('tbody', null, rows.map(([first, ...rest]) => h('tr', null, h('th', { scope: 'row' }, first), rest.map((c) => h('td', null, c))))))));
}

const clients = (list) => table('Connected clients', 'No MCP session is open. Clients of revision 2026-07-28 have none; their calls are under Calls.', ['Client', 'Token', 'Tools', 'Since', 'Last used'],
  list.map((c) => [[c.name || 'unnamed', c.version && h('span', { class: 'muted' }, ` ${c.version}`)], c.who ?? '–', c.server ? `server ${c.server}` : c.profile || 'all', fmt.day(c.begun), fmt.day(c.lastUsed)]));

const tokens = (list) => table('Tokens', 'None in the file of tokens. tooldex tokens add makes one.', ['Token', 'Good for', 'Expires'],
  list.map((t) => [t.name, [t.profile ? `profile ${t.profile}` : 'all tools', t.readOnly && ', reading only'], [t.expires ? fmt.day(t.expires) : 'never', t.expired && [' ', badge('expired', 'bad')]]]));

const profiles = (list) => table('Profiles', 'None. They are part of the configuration file.', ['Profile', 'Servers', 'Mode', 'Tools'],
  list.map((p) => [p.name, p.servers?.join(', ') ?? 'all', p.mode ?? 'as configured', fmt.number(p.tools)]));
