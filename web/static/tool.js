// The page of one tool: its parameters, its search phrases, its use, and what people may change about it.

import { get, path, put } from './api.js';
import { badge, empty, fail, fmt, h, id, replace, toast } from './dom.js';
import { tryForm } from './try.js';
import { parameterTable } from './schema.js';
import { changed, prefer, preferences } from './state.js';
import { wordsEditor } from './words.js';

// toolPage shows a tool in host. It returns {leave}.
export function toolPage(host, name, { open, close, focus }) {
  const gone = new AbortController();
  const back = h('button', { type: 'button', class: 'back quiet', onclick: close, title: 'Esc' }, '← Tools');
  replace(host, back, h('p', { class: 'muted' }, 'Loading…'));
  load().catch((err) => {
    if (err.name !== 'AbortError') replace(host, back, empty(err.status === 404 ? 'No such tool' : 'It cannot be shown', err.message, err.hint ?? ''));
  });

  async function load() {
    const [tool, overlay, insight, prefs] = await Promise.all([
      get(path`api/tools/${name}`, null, gone.signal),
      get(path`api/overlays/${name}`, null, gone.signal).catch(absent),
      get(path`api/insights/${name}`, null, gone.signal).catch(absent),
      preferences().catch(absent),
    ]);
    const title = h('h2', { tabindex: '-1' }, tool.name);
    const state = { tool, overlay, insight, prefs };
    state.say = async (change) => {
      const next = structuredClone(state.overlay);
      change(next);
      state.overlay = await put(path`api/overlays/${name}`, next);
      const fresh = await get(path`api/tools/${name}`);
      for (const key of Object.keys(tool)) delete tool[key]; // what is empty is left out of an answer
      Object.assign(tool, fresh);
      state.insight = await get(path`api/insights/${name}`).catch(absent);
      changed(tool);
    };
    replace(host, back, head(state, title), ...sections(state, open));
    host.scrollTop = 0;
    if (focus) title.focus({ preventScroll: true });
  }

  return { leave: () => gone.abort() };
}

// absent replaces what the service does not have by null.
function absent(err) {
  if (err.name === 'AbortError') throw err;
  return null;
}

function head(state, title) {
  const { tool } = state;
  const a = tool.annotations ?? {};
  return h('header', { class: 'tool-head' },
    h('div', { class: 'tool-title' }, title,
      a.readOnlyHint && badge('read-only', 'good', 'according to its server it changes nothing'),
      !a.readOnlyHint && a.destructiveHint && badge('destructive', 'bad', 'according to its server it may destroy something'),
      a.openWorldHint && badge('open world', '', 'according to its server it reaches outside systems'),
      tool.confirm && badge('asks first', 'warn', 'a person has to confirm each call'),
      tool.deprecated && badge('deprecated', 'warn')),
    h('p', { class: 'facts' }, h('span', null, tool.server), h('span', { title: tool.categoryDerived ? 'derived from the kinds of tools that it resembles; none is declared' : null }, tool.category || 'other', tool.categoryDerived && ' (derived)'), h('span', null, fmt.tokens(tool.tokens)),
      h('span', { title: 'the name under which clients call it' }, h('code', null, tool.exposed)),
      tool.alwaysInclude && badge('always given', 'accent', 'every agent is shown it in full'),
      tool.uses > 0 && h('span', { title: 'as Activity counts calls over all time' }, `called ${fmt.short(tool.uses)}×`),
      tool.lastUsed && h('span', { title: tool.lastUsed }, `last ${fmt.day(tool.lastUsed)}`)),
    tool.warning && h('p', { class: 'note warn' }, `Suspicious: ${tool.warning}. The servers view shows why.`),
    tool.deprecated && h('p', { class: 'note warn' }, `Deprecated: ${tool.deprecated}`),
    controls(state));
}

// controls decide whether clients get the tool.
function controls(state) {
  const { tool, overlay, prefs } = state;
  const enabled = h('input', { type: 'checkbox', role: 'switch', checked: !tool.disabled, disabled: overlay === null });
  enabled.addEventListener('change', async () => {
    const on = enabled.checked;
    try {
      await state.say((o) => (o.enabled = on));
      toast(on ? `${tool.name} is enabled` : `${tool.name} is disabled: agents cannot find or call it`);
    } catch (err) {
      enabled.checked = !on;
      fail(err);
    }
  });
  return h('div', { class: 'controls' }, h('label', { class: 'switch' }, enabled, h('span', null, 'Enabled')), inclusion(tool, prefs));
}

// The names that a tool may have in the preferences.
const namesOf = (tool) => [tool.id, tool.exposed];

export function inclusionOf(tool, prefs) {
  const has = (list) => namesOf(tool).some((n) => list?.includes(n));
  return has(prefs?.neverInclude) ? 'never' : has(prefs?.alwaysInclude) ? 'always' : 'needed';
}

function inclusion(tool, prefs) {
  const group = id('inclusion');
  let now = inclusionOf(tool, prefs);
  const choices = [['always', 'Always'], ['needed', 'When needed'], ['never', 'Never']];
  const field = h('fieldset', { class: 'segments', disabled: prefs === null }, h('legend', { class: 'visually-hidden' }, 'For agents'),
    choices.map(([value, label]) => h('label', null, h('input', { type: 'radio', name: group, value, checked: value === now }), h('span', null, label))));
  field.addEventListener('change', async (e) => {
    const wanted = e.target.value;
    try {
      await prefer((p) => {
        for (const list of ['alwaysInclude', 'neverInclude']) p[list] = (p[list] ?? []).filter((n) => !namesOf(tool).includes(n));
        if (wanted === 'always') p.alwaysInclude.push(tool.id);
        if (wanted === 'never') p.neverInclude.push(tool.id);
      });
      now = wanted;
      toast({ always: 'Every agent gets it', needed: 'Agents get it when they need it', never: 'No agent gets it' }[wanted]);
    } catch (err) {
      field.querySelector(`[value=${now}]`).checked = true;
      fail(err);
    }
  });
  return field;
}

function sections(state, open) {
  const { tool } = state;
  const parts = [];
  if (tool.description) parts.push(section('Description', prose(tool.description)));
  parts.push(section('Parameters', parameterTable(tool.inputSchema)));
  parts.push(section('Try it', tryForm(state)));
  parts.push(section('Examples', examples(state)));
  parts.push(section('Search phrases', wordsEditor(state)));
  const related = state.insight?.related?.length ? state.insight.related : (tool.related ?? []);
  if (related.length) {
    parts.push(section('Related', h('ul', { class: 'related' }, related.map((r) => h('li', null, h('button', { type: 'button', class: 'link', onclick: () => open(r) }, r))))));
  }
  parts.push(h('details', { class: 'raw' }, h('summary', null, 'Original schemas'),
    h('pre', { tabindex: '0' }, JSON.stringify(tool.inputSchema, null, 2)),
    tool.outputSchema && [h('p', { class: 'muted' }, 'Output'), h('pre', { tabindex: '0' }, JSON.stringify(tool.outputSchema, null, 2))]));
  return parts;
}

function section(title, ...children) {
  const name = id('section');
  return h('section', { class: 'section', 'aria-labelledby': name }, h('h3', { id: name }, title), children);
}

// prose shows a text with its line breaks, and folds a long one.
function prose(text) {
  const p = h('p', { class: 'prose' }, text.trim());
  if (text.length < 700) return p;
  p.classList.add('folded');
  const more = h('button', { type: 'button', class: 'link', 'aria-expanded': 'false' }, 'Show all');
  more.addEventListener('click', () => {
    const folded = p.classList.toggle('folded');
    more.textContent = folded ? 'Show all' : 'Show less';
    more.setAttribute('aria-expanded', String(!folded));
  });
  return [p, more];
}

// examples lists the tool's examples, with a button to remove those that were added here.
function examples(state) {
  const place = h('div', { class: 'examples' });
  const draw = () => {
    const mine = state.overlay?.examples ?? [];
    const list = state.tool.examples ?? [];
    if (list.length === 0) {
      replace(place, h('p', { class: 'muted' }, 'None yet. You can keep a successful call as an example.'));
      return;
    }
    replace(place, list.map((e) => {
      const at = mine.findIndex((m) => m.description === e.description && JSON.stringify(m.invocation) === JSON.stringify(e.invocation));
      return h('figure', null, h('figcaption', null, e.description, ' ', at >= 0 ? badge('added here', 'accent') : badge('declared'),
        at >= 0 && h('button', { type: 'button', class: 'quiet small', 'aria-label': `Remove the example ${e.description}`, onclick: () => state.say((o) => o.examples.splice(at, 1)).then(draw).catch(fail) }, 'Remove')),
      e.invocation && h('pre', { tabindex: '0' }, JSON.stringify(e.invocation, null, 2)),
      e.expectedOutput && h('p', { class: 'muted' }, `returns ${e.expectedOutput}`));
    }));
  };
  state.examplesChanged = draw;
  draw();
  return place;
}

