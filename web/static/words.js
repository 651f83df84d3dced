// Search phrases of a tool beside its own texts: requests and synonyms, each with its source. People can add some, and
// remove what they added, but not what a server declares or an archetype lends.

import { badge, fail, fmt, h, id, replace, toast } from './dom.js';

const kinds = { utterance: 'utterances', synonym: 'synonyms' };

// The badge of each source: its text, its kind and its title.
const marks = {
  added: ['added here', 'accent', 'added in this panel'],
  declared: ['declared', '', 'by its author, or by an overlay'],
  learned: ['learned', 'good', 'from use'],
  generated: ['generated', 'warn', 'by a language model'],
  borrowed: ['borrowed', '', 'from an archetype that resembles the tool'],
};

export function wordsEditor(state) {
  const place = h('div', { class: 'words' });
  const own = h('div');
  const lent = h('div');
  const at = id('saying');
  const text = h('input', { id: at, type: 'text', required: true, maxlength: 400, placeholder: 'a request that should find it', autocomplete: 'off' });
  const kind = h('select', { 'aria-label': 'What it is' }, h('option', { value: 'utterance' }, 'request'), h('option', { value: 'synonym' }, 'synonym'));
  kind.addEventListener('change', () => (text.placeholder = kind.value === 'synonym' ? 'another word for what it does' : 'a request that should find it'));
  const add = h('form', {
    class: 'inline',
    onsubmit: async (e) => {
      e.preventDefault();
      const said = text.value.trim();
      if (!said) return;
      try {
        await state.say((o) => addSaying(o, kind.value, said));
        text.value = '';
        draw();
        toast(`Searches for “${said}” find it now`);
      } catch (err) {
        fail(err);
      }
    },
  }, h('label', { for: at, class: 'visually-hidden' }, 'New words'), kind, text, h('button', null, 'Add'));

  function draw() {
    const sayings = merged(state);
    const mine = sayings.filter((s) => s.from !== 'borrowed');
    replace(own, mine.length ? h('ul', { class: 'sayings' }, mine.map((s) => row(s, remove))) : h('p', { class: 'muted' }, 'No search phrases added yet'));
    replace(lent, borrowed(state));
  }

  async function remove(s) {
    try {
      await state.say((o) => (o[kinds[s.kind]] = (o[kinds[s.kind]] ?? []).filter((t) => t !== s.text)));
      draw();
    } catch (err) {
      fail(err);
    }
  }

  draw();
  replace(place, own, state.overlay && add, lent);
  return place;
}

// addSaying adds an utterance or a synonym to an overlay, unless it is there.
export function addSaying(overlay, kind, text) {
  const list = kinds[kind];
  overlay[list] = [...(overlay[list] ?? []).filter((t) => t !== text), text];
}

// merged returns the tool's own phrases, and marks those that were added here.
function merged({ tool, overlay, insight }) {
  const sayings = insight?.sayings ?? [
    ...(tool.utterances ?? []).map((u) => ({ kind: 'utterance', from: u.from ?? 'declared', text: u.text })),
    ...(tool.synonyms ?? []).map((s) => ({ kind: 'synonym', from: 'declared', text: s })),
  ];
  return sayings.map((s) => (s.from === 'declared' && overlay?.[kinds[s.kind]]?.includes(s.text) ? { ...s, from: 'added' } : s));
}

function row(s, remove) {
  const [mark, kind, title] = marks[s.from] ?? [s.from, '', ''];
  return h('li', null, h('span', { class: 'saying' }, s.text), s.kind === 'synonym' && h('span', { class: 'muted' }, 'synonym'), badge(mark, kind, title),
    s.from === 'added' && h('button', { type: 'button', class: 'quiet small', 'aria-label': `Remove ${s.text}`, onclick: () => remove(s) }, 'Remove'));
}

// borrowed lists the phrases borrowed from archetypes, by archetype.
function borrowed({ insight }) {
  if (!insight) return null;
  if (!insight.borrows) return h('p', { class: 'muted' }, 'Borrowing is switched off for this tool.');
  if (insight.lenders.length === 0) return h('p', { class: 'muted' }, 'It borrows nothing: it resembles no known kind of tool.');
  const sayings = insight.sayings.filter((s) => s.from === 'borrowed');
  return h('details', { class: 'raw' },
    h('summary', null, badge('borrowed'), ` ${fmt.count(sayings.length, 'request and synonym', 'requests and synonyms')} of ${fmt.count(insight.lenders.length, 'archetype')}`),
    insight.lenders.map((l) => h('div', { class: 'lender' },
      h('p', null, h('strong', null, l.title), ' ', h('code', null, l.archetype), h('span', { class: 'muted' }, ` similarity ${l.like.toFixed(2)}, weight ${l.weight.toFixed(2)}`)),
      h('ul', { class: 'lent' }, sayings.filter((s) => s.lender === l.archetype).map((s) => h('li', null, s.text, s.kind === 'synonym' && h('span', { class: 'muted' }, ' synonym')))))));
}
