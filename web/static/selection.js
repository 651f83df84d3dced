// The tools an agent would get for a message, as one types it.

import { get, latest, post } from './api.js';
import { badge, empty, fmt, h, id, later, meter, replace } from './dom.js';
import { catalogue, local, onCatalogue } from './state.js';

const sources = {
  core: ['core', 'good', 'it is always available'],
  explicit: ['asked for', 'accent', 'by name'],
  search: ['search', 'accent', 'the message or the history needs it'],
  cache: ['cache', 'accent', 'a message that means the same needed it'],
  session: ['session', '', 'an earlier turn needed it'],
  preference: ['preference', 'good', 'the preferences say so'],
  all: ['all', '', 'all tools were asked for'],
};

const below = 6; // tools that are shown beneath those that an agent gets

const formats = [['mcp', 'MCP'], ['anthropic', 'Anthropic'], ['openai', 'OpenAI'], ['openai-responses', 'OpenAI Responses'], ['gemini', 'Gemini']];

export function selectionView(host, params) {
  const message = h('textarea', { id: 'message', rows: 3, placeholder: 'Read package.json and tell me which dependencies are out of date', spellcheck: 'false' });
  message.value = params.get('message') ?? local.get('message', '');
  const history = h('textarea', { id: 'history', rows: 3, placeholder: 'one to a line, oldest first', spellcheck: 'false' });
  const mode = h('select', { id: 'mode' }, h('option', { value: '' }, 'as preferred'), ['auto', 'manual', 'all'].map((m) => h('option', { value: m }, m)));
  const format = h('select', { id: 'format' }, formats.map(([value, label]) => h('option', { value }, label)));
  const most = h('input', { id: 'most', type: 'number', min: 1, max: 1000, placeholder: 'as preferred' });
  const threshold = h('input', { id: 'threshold', type: 'number', min: 1, placeholder: 'as preferred' });
  const names = h('datalist', { id: 'tool-names' });
  const pick = h('input', { id: 'pick', list: names.id, placeholder: 'server/tool', autocomplete: 'off', spellcheck: 'false' });
  const chips = h('ul', { class: 'chips', 'aria-label': 'Tools by name' });
  let picked = local.get('picked', []);
  const out = h('div', { class: 'selection-out', 'aria-live': 'polite' });
  const labelled = (el, text) => h('div', { class: 'field' }, h('label', { for: el.id }, text), el);

  replace(host, h('div', { class: 'page' },
    h('h2', null, 'Selection'),
    h('p', { class: 'lead' }, 'The tools an agent gets for a message, and what they cost to read.'),
    h('form', { class: 'selection-form', onsubmit: (e) => e.preventDefault() },
      labelled(message, 'Message'),
      h('div', { class: 'row-fields' }, labelled(mode, 'Mode'), labelled(most, 'Tools at most'), labelled(threshold, 'Tokens at most'), labelled(format, 'Format')),
      labelled(pick, 'Tools by name, which are always given; in mode manual, only these are'), names, chips,
      h('details', { class: 'raw' }, h('summary', null, 'Earlier turns'), labelled(history, 'What the user said before'))),
    out));

  const run = latest(async (signal) => {
    const text = message.value.trim();
    local.set('message', message.value);
    if (!text && mode.value !== 'all' && (mode.value !== 'manual' || picked.length === 0)) {
      replace(out, empty('No message yet', 'Write what a person would ask an agent.'));
      return;
    }
    if (!out.firstChild) replace(out, empty('Choosing tools…'));
    const body = { message: text, format: format.value, trial: true };
    if (picked.length) body.explicitTools = picked;
    const turns = history.value.split('\n').map((l) => l.trim()).filter(Boolean);
    if (turns.length) body.history = turns.map((content) => ({ role: 'user', content }));
    if (mode.value) body.mode = mode.value;
    if (most.value) body.maxTools = Number(most.value);
    if (threshold.value) body.tokenThreshold = Number(threshold.value);
    try {
      const chosen = await post('api/tools/select', body, signal);
      const given = new Set(chosen.selected.map((t) => t.id));
      const near = text && chosen.mode === 'auto' ? (await get('search', { q: text, limit: given.size + below, trial: true }, signal)).tools : [];
      show(out, chosen, near.filter((t) => !given.has(t.id)).slice(0, below));
    } catch (err) {
      if (err.name === 'AbortError') return;
      replace(out, empty(err.status === 404 || err.status === 405 ? 'Selection is not available here' : 'No selection was made', err.message, err.hint ?? ''));
    }
  });
  function showPicked() {
    local.set('picked', picked);
    replace(chips, picked.map((name) => h('li', { class: 'chip' }, name, h('button', { type: 'button', class: 'quiet small', 'aria-label': `Remove ${name}`, onclick: () => change(picked.filter((n) => n !== name)) }, '×'))));
    chips.hidden = picked.length === 0;
  }

  function change(list) {
    picked = list;
    showPicked();
    run();
  }

  pick.addEventListener('change', () => {
    const name = pick.value.trim();
    pick.value = '';
    if (name && !picked.includes(name)) change([...picked, name]);
  });
  const suggest = () => replace(names, catalogue.items.slice(0, 2000).filter((t) => !t.disabled).map((t) => h('option', { value: t.id })));
  const stop = onCatalogue(suggest);
  suggest();
  showPicked();
  const soon = later(120, run);
  for (const el of [message, history, most, threshold]) el.addEventListener('input', soon);
  for (const el of [mode, format]) el.addEventListener('change', run);
  run();
  return { leave: stop };
}

// show shows a selection, and near, the tools that came next.
function show(out, s, near) {
  const share = s.allTokens > 0 ? s.tokens / s.allTokens : 0;
  const opened = out.querySelector('details')?.open ?? false;
  replace(out,
    h('div', { class: 'tiles' },
      tile('Tools', fmt.number(s.selected.length), `of ${fmt.number(s.allTools)}`),
      tile('Tokens', fmt.short(s.tokens), `of ${fmt.short(s.allTokens)}`),
      tile('Saved', fmt.percent(1 - share), `${fmt.short(s.tokensSaved)} tokens`)),
    h('div', { class: 'saving', role: 'img', 'aria-label': `${fmt.percent(share)} of all tokens are used` }, meter(share)),
    s.degraded && h('p', { class: 'note warn' }, `Searched by words only: ${s.degraded}`),
    !s.confident && h('p', { class: 'note warn' }, s.advice?.message ?? 'Probably no tool here does what the message asks.'),
    s.selected.length === 0 ? empty('No tool is selected', 'The message needs none, or none fits.') : list(s.selected, near),
    s.leftOut?.length > 0 && h('section', { class: 'section' }, h('h3', null, 'Left out'), h('ul', { class: 'plain' }, s.leftOut.map((l) => h('li', null, h('code', null, l.name), ' ', h('span', { class: 'muted' }, l.why))))),
    h('details', { class: 'raw', open: opened }, h('summary', null, 'What is sent'), h('pre', { tabindex: '0' }, JSON.stringify(s.tools, null, 2))));
}

export function tile(label, value, more = '') {
  const at = id('tile');
  return h('div', { class: 'tile', role: 'group', 'aria-labelledby': at }, h('p', { class: 'tile-label', id: at }, label), h('p', { class: 'tile-value' }, value), more && h('p', { class: 'tile-more' }, more));
}

function list(selected, near) {
  const most = Math.max(...selected.map((t) => t.tokens), 1);
  return h('div', { class: 'table-scroll', tabindex: '0', role: 'region', 'aria-label': 'Selected tools' }, h('table', { class: 'list' },
    h('thead', null, h('tr', null, ['Tool', 'Why', 'Score', 'Tokens'].map((t, i) => h('th', { scope: 'col', class: i > 1 ? 'num' : null }, t)))),
    h('tbody', null, selected.map((t) => {
      const [label, kind, title] = sources[t.source] ?? [t.source, '', ''];
      return h('tr', null,
        h('th', { scope: 'row' }, h('a', { href: `#/tools?tool=${encodeURIComponent(t.id)}` }, t.id)),
        h('td', null, badge(label, kind, title)),
        h('td', { class: 'num' }, t.score ? [meter(t.score), fmt.score(t.score)] : h('span', { class: 'muted' }, '–')),
        h('td', { class: 'num' }, meter(t.tokens / most, 'plain'), fmt.number(t.tokens)));
    }), near.length > 0 && [
      h('tr', { class: 'cut' }, h('th', { colspan: 4, scope: 'rowgroup' }, 'Not given to the agent, which can search for them')),
      near.map((t) => h('tr', { class: 'rest' }, h('th', { scope: 'row' }, h('a', { href: `#/tools?tool=${encodeURIComponent(t.id)}` }, t.id)), h('td'), h('td', { class: 'num' }, meter(t.score, 'plain'), fmt.score(t.score)), h('td'))),
    ])));
}
