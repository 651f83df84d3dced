// The frame around the views: the current view, global keys, the theme, and the dialog for a token.

import { onToken, takeToken } from './api.js';
import { dialog, fail, fmt, h, id, replace } from './dom.js';
import { catalogue, loadCatalogue, local, onCatalogue } from './state.js';
import { applyTheme } from './theme.js';
import { accessView } from './access.js';
import { activityView } from './activity.js';
import { callsView } from './calls.js';
import { loginView } from './login.js';
import { selectionView } from './selection.js';
import { serversView } from './servers.js';
import { settingsView } from './settings.js';
import { toolsView } from './tools.js';

const views = [
  { name: 'tools', label: 'Tools', make: toolsView },
  { name: 'selection', label: 'Selection', make: selectionView },
  { name: 'activity', label: 'Activity', make: activityView },
  { name: 'calls', label: 'Calls', make: callsView },
  { name: 'servers', label: 'Servers', make: serversView },
  { name: 'access', label: 'Access', make: accessView },
  { name: 'settings', label: 'Settings', make: settingsView },
];

// Not in the navigation.
const others = [{ name: 'login', label: 'Log in', make: loginView }];

const host = document.getElementById('view');
let shown = null; // the view: {name, update, leave}

// where reads the address: #/view?name=value.
function where() {
  const [name, query] = location.hash.replace(/^#\/?/, '').split('?');
  const view = [...views, ...others].find((v) => v.name === name) ?? views[0];
  return { view, params: new URLSearchParams(query ?? '') };
}

function navigate() {
  const { view, params } = where();
  document.title = `${view.label} · tooldex`;
  for (const a of document.querySelectorAll('#nav a')) {
    if (a.dataset.view === view.name) a.setAttribute('aria-current', 'page');
    else a.removeAttribute('aria-current');
  }
  if (shown?.name === view.name) {
    shown.update?.(params);
    return;
  }
  shown?.leave?.();
  host.className = `view-${view.name}`;
  host.replaceChildren();
  host.scrollTop = 0;
  shown = { name: view.name, ...view.make(host, params) };
}

// typing reports whether a key belongs to the focused element.
function typing(target) {
  return target.closest('input, select, textarea, [contenteditable]') !== null;
}

function focusSearch() {
  if (shown.name !== 'tools') location.hash = '#/tools';
  requestAnimationFrame(() => {
    const q = document.getElementById('q');
    q?.focus();
    q?.select();
  });
}

document.addEventListener('keydown', (e) => {
  if (e.defaultPrevented || document.querySelector('dialog[open]')) return;
  if ((e.ctrlKey || e.metaKey) && e.key === 'k') {
    e.preventDefault();
    focusSearch();
    return;
  }
  if (e.ctrlKey || e.metaKey || e.altKey || typing(e.target) || !local.get('keys', true)) return;
  const n = Number(e.key);
  if (e.key === '/') focusSearch();
  else if (e.key === '?') help();
  else if (n >= 1 && n <= views.length) location.hash = `#/${views[n - 1].name}`;
  else return;
  e.preventDefault();
});

const keys = [
  ['/ or Ctrl K', 'search'],
  ['↑ ↓', 'through results, or the catalogue'],
  ['← →', 'close and open a group'],
  ['Enter', 'open the tool'],
  ['Esc', 'back to the list, then clear the search'],
  ['1 to 7', 'the views, in their order'],
  ['?', 'these keys'],
];

function help() {
  const d = dialog('Keys',
    h('dl', { class: 'keys' }, keys.map(([key, what]) => [h('dt', null, h('kbd', null, key)), h('dd', null, what)])),
    h('p', { class: 'muted' }, 'Turn off single-key shortcuts in Settings.'),
    h('form', { method: 'dialog' }, h('button', null, 'Close')));
  d.addEventListener('click', (e) => e.target === d && d.close());
}

// One question for the token answers all requests that wait for it.
let asking = null;
onToken((again, why) => (asking ??= askToken(again, why).finally(() => (asking = null))));

// askToken asks for a token. again says that the server refused one. why is the answer to a change that needs one, null
// where everything does.
function askToken(again, why) {
  return new Promise((resolve) => {
    const field = id('token');
    const input = h('input', { id: field, type: 'password', autocomplete: 'off', required: true });
    const d = dialog('Token',
      h('p', null, again ? 'Unknown or revoked token. Try another.' : why ? `${why.message}.` : 'This server requires a token.'),
      why && h('p', { class: 'hint' }, `${why.hint}.`),
      h('form', {
        method: 'dialog',
        onsubmit: () => resolve(input.value.trim()),
      }, h('label', { for: field }, 'Token, as in TOOLDEX_TOKEN'), input, h('div', { class: 'actions' }, h('button', { class: 'primary' }, 'Continue'))));
    d.addEventListener('close', () => resolve(''));
    input.focus();
  });
}

document.getElementById('nav').append(...views.map((v, i) => h('li', null, h('a', { href: `#/${v.name}`, 'data-view': v.name, title: `Key ${i + 1}` }, v.label))));
document.getElementById('help-button').addEventListener('click', help);
onCatalogue(() => {
  replace(document.getElementById('count'), h('strong', null, fmt.number(catalogue.enabled)), ' tools', h('span', { class: 'muted' }, ` · ${fmt.tokens(catalogue.tokens)} if all are listed`));
});
addEventListener('hashchange', navigate);
applyTheme();
takeToken();
navigate();
loadCatalogue().catch(fail);
