// The page at which a user logs in to a server for themselves, #/login?server=NAME. The token says for whom.

import { get, path, request } from './api.js';
import { empty, h, replace } from './dom.js';

export function loginView(host, params) {
  const server = params.get('server') ?? '';
  const fail = (err) => replace(host, empty('You cannot be logged in', err.message, err.hint ?? ''));

  async function begin() {
    try {
      const { data } = await request('POST', path`api/credentials/${server}/login`, { cookies: true });
      location.assign(data.visit);
    } catch (err) {
      fail(err);
    }
  }

  async function show() {
    const { credentials } = await get('api/credentials');
    const { name } = await get('api/whoami');
    const line = credentials.find((c) => c.server === server && c.login);
    if (!line) throw new Error('No such server takes logins of its users.');
    if (new URL(line.login).origin !== location.origin) location.replace(line.login); // the cookie is needed there
    replace(host, h('div', { class: 'page' }, h('h2', null, `Log in to ${server}`),
      h('p', null, `The login is used for ${name || 'everybody without a token'} alone.`),
      line.stored && h('p', { class: 'hint' }, 'It replaces the one that you have.'),
      h('button', { type: 'button', class: 'primary', onclick: begin }, 'Log in')));
  }

  show().catch(fail);
  return {};
}
