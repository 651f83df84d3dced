// Preferences, which the service applies to every agent, and the settings of this browser.

import { empty, fail, fmt, h, id, replace, toast } from './dom.js';
import { catalogue, categoryOf, local, onCatalogue, prefer, preferences } from './state.js';
import { setTheme } from './theme.js';

export function settingsView(host) {
  const service = h('div', null, empty('Loading the preferences…'));
  replace(host, h('div', { class: 'page narrow' }, h('h2', null, 'Settings'), service, here()));
  let stop = () => {};
  preferences(true).then((p) => {
    if (p === null) replace(service, empty('No preferences', 'This server cannot store preferences.'));
    else stop = edit(service);
  }).catch((err) => replace(service, empty('The preferences cannot be read', err.message)));
  return { leave: () => stop() };
}

// save changes the preferences, and reports success or failure.
async function save(change) {
  try {
    await prefer(change);
    toast('Saved');
    return true;
  } catch (err) {
    fail(err);
    return false;
  }
}

function edit(host) {
  const mode = h('select', { id: 'pref-mode' }, [['', 'auto, by default'], ['auto', 'auto: what the message needs'], ['manual', 'manual: only tools requested by name'], ['all', 'all: every tool']].map(([v, t]) => h('option', { value: v }, t)));
  const most = h('input', { id: 'pref-most', type: 'number', min: 1, max: 1000, placeholder: '15, by default' });
  const threshold = h('input', { id: 'pref-threshold', type: 'number', min: 1, placeholder: '50000, by default' });
  const categories = h('div');
  const lists = h('div');

  async function fill() {
    const p = await preferences();
    mode.value = p.mode ?? '';
    most.value = p.maxTools || '';
    threshold.value = p.tokenThreshold || '';
    replace(lists, named(p, 'alwaysInclude', 'Always given to agents', fill), named(p, 'neverInclude', 'Never given to agents', fill));
    replace(categories, categoryTable(p, fill));
  }

  // Counts come with the catalogue. What a person has begun to write elsewhere on the page stays.
  async function recount() {
    if (!categories.contains(document.activeElement)) replace(categories, categoryTable(await preferences(), fill));
  }

  const number = (input, key) => input.addEventListener('change', async () => {
    if (!input.checkValidity()) {
      input.reportValidity();
      return;
    }
    await save((p) => set(p, key, input.value ? Number(input.value) : undefined));
    fill().catch(fail);
  });
  number(most, 'maxTools');
  number(threshold, 'tokenThreshold');
  mode.addEventListener('change', async () => {
    await save((p) => set(p, 'mode', mode.value || undefined));
    fill().catch(fail);
  });
  const field = (el, label, hint) => h('div', { class: 'field' }, h('label', { for: el.id }, label), el, hint && h('p', { class: 'hint' }, hint));
  replace(host,
    h('section', { class: 'section' }, h('h3', null, 'Selection'),
      field(mode, 'Mode'),
      h('div', { class: 'row-fields' }, field(most, 'Tools at most'), field(threshold, 'Tokens at most'))),
    h('section', { class: 'section' }, h('h3', null, 'Tools'), lists),
    h('section', { class: 'section' }, h('h3', null, 'Categories'), h('p', { class: 'muted' }, 'Agents cannot find, list or call the tools of a category set to never.'), categories));
  fill().catch(fail);
  return onCatalogue(() => recount().catch(fail));
}

function set(p, key, value) {
  if (value === undefined) delete p[key];
  else p[key] = value;
}

function named(p, key, title, fill) {
  const list = p[key] ?? [];
  const at = id('list');
  return h('div', { class: 'field' }, h('p', { class: 'label', id: at }, title),
    list.length ? h('ul', { class: 'chips', 'aria-labelledby': at }, list.map((name) => h('li', { class: 'chip' }, h('a', { href: `#/tools?tool=${encodeURIComponent(name)}` }, name),
      h('button', { type: 'button', class: 'quiet small', 'aria-label': `Remove ${name}`, onclick: async () => (await save((q) => (q[key] = q[key].filter((n) => n !== name)))) && fill().catch(fail) }, '×'))))
      : h('p', { class: 'hint' }, 'None. Set this on a tool’s page.'));
}

function categoryTable(p, fill) {
  const counts = new Map();
  for (const t of catalogue.items) counts.set(categoryOf(t), (counts.get(categoryOf(t)) ?? 0) + 1);
  for (const name of Object.keys(p.categories ?? {})) if (!counts.has(name)) counts.set(name, 0);
  if (counts.size === 0) return h('p', { class: 'muted' }, 'None yet.');
  return h('ul', { class: 'category-list' }, [...counts].sort((a, b) => (a[0] < b[0] ? -1 : 1)).map(([name, n]) => {
    const at = id('category');
    const use = h('select', { id: at }, [['on-demand', 'when needed'], ['always', 'always'], ['never', 'never']].map(([v, t]) => h('option', { value: v }, t)));
    use.value = p.categories?.[name] ?? 'on-demand';
    use.addEventListener('change', async () => {
      const ok = await save((q) => {
        q.categories = { ...q.categories };
        if (use.value === 'on-demand') delete q.categories[name];
        else q.categories[name] = use.value;
      });
      if (!ok) fill().catch(fail);
    });
    return h('li', null, h('label', { for: at }, name, h('span', { class: 'muted' }, ` ${fmt.number(n)}`)), use);
  }));
}

// here shows the settings that only this browser stores.
function here() {
  const theme = h('select', { id: 'theme' }, [['system', 'system'], ['light', 'light'], ['dark', 'dark']].map(([v, t]) => h('option', { value: v }, t)));
  theme.value = local.get('theme', 'system');
  theme.addEventListener('change', () => setTheme(theme.value));
  const keys = h('input', { type: 'checkbox', checked: local.get('keys', true) });
  keys.addEventListener('change', () => local.set('keys', keys.checked));
  return h('section', { class: 'section' }, h('h3', null, 'This browser'),
    h('div', { class: 'field' }, h('label', { for: 'theme' }, 'Colours'), theme),
    h('label', { class: 'check' }, keys, 'Single-key shortcuts, such as / and 1 to 7'));
}
