// Trying a call: a form made of the tool's schema, and the answer.

import { path, request } from './api.js';
import { badge, dialog, fail, fmt, h, id, replace, toast } from './dom.js';
import { schemaForm } from './form.js';

export function tryForm(state) {
  const { tool } = state;
  const fields = schemaForm(tool.inputSchema);
  const raw = h('textarea', { class: 'mono', rows: 6, spellcheck: 'false', 'aria-label': 'Arguments as JSON' });
  const asJSON = h('button', { type: 'button', class: 'toggle', 'aria-pressed': 'false' }, 'As JSON');
  const send = h('button', { class: 'primary' }, 'Call');
  const answer = h('div', { class: 'answer', 'aria-live': 'polite' });
  const problem = h('p', { class: 'note bad', role: 'alert', hidden: true });
  const body = h('div', null, fields.element);
  const changes = !tool.annotations?.readOnlyHint;
  const form = h('form', { novalidate: true }, body, problem,
    h('div', { class: 'actions' }, send, asJSON,
      tool.examples?.length > 0 && h('button', { type: 'button', class: 'quiet', onclick: () => fill(tool.examples[0].invocation ?? {}) }, 'Fill in the example'),
      changes && h('span', { class: 'muted' }, tool.annotations?.destructiveHint ? 'This may destroy something.' : 'This may change something.')),
    answer);

  const plain = () => asJSON.getAttribute('aria-pressed') === 'true';
  const text = () => (plain() ? raw.value.trim() || '{}' : fields.text());

  function complain(message) {
    problem.textContent = message;
    problem.hidden = !message;
  }

  function fill(value) {
    fields.fill(value);
    raw.value = JSON.stringify(value, null, 2);
  }

  asJSON.addEventListener('click', () => {
    complain('');
    try {
      const now = text();
      if (plain()) fields.fill(JSON.parse(now));
      else raw.value = indent(now);
    } catch (err) {
      complain(err.message);
      return;
    }
    asJSON.setAttribute('aria-pressed', String(!plain()));
    replace(body, plain() ? raw : fields.element);
  });

  form.addEventListener('submit', async (e) => {
    e.preventDefault();
    complain('');
    let args;
    try {
      args = text();
      JSON.parse(args);
    } catch (err) {
      complain(err.message);
      return;
    }
    send.disabled = true;
    try {
      let sure = tool.confirm && (await agreed(tool, args));
      if (tool.confirm && !sure) return;
      replace(answer, h('p', { class: 'muted' }, 'Running…'));
      const began = performance.now();
      const call = () => request('POST', path`api/tools/${tool.id}/call`, { body: `{${sure ? '"confirm":true,' : ''}"arguments":${args}}` });
      const { data, text: whole } = await call().catch(async (err) => {
        if (err.code !== 'confirmation_required') throw err;
        sure = await agreed(tool, args);
        if (!sure) throw err;
        return call();
      });
      replace(answer, shown(data, whole, performance.now() - began), keep(state, args, data));
    } catch (err) {
      replace(answer, h('p', { class: 'note bad' }, err.message, err.hint && h('span', { class: 'muted' }, ` ${err.hint}`)));
    } finally {
      send.disabled = false;
    }
  });
  return form;
}

// agreed asks the person to confirm a call, and resolves to the answer.
function agreed(tool, args) {
  return new Promise((resolve) => {
    const d = dialog('Allow this call?',
      h('p', null, 'It may change or destroy something.'),
      h('p', null, h('code', null, tool.id)),
      h('pre', { tabindex: '0' }, indent(args)),
      h('form', { method: 'dialog' }, h('div', { class: 'actions' },
        h('button', { value: 'no', autofocus: true }, 'Cancel'),
        h('button', { value: 'yes', class: 'primary' }, 'Call'))));
    d.addEventListener('close', () => resolve(d.returnValue === 'yes'));
  });
}

function indent(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function shown(result, whole, ms) {
  return [
    h('p', { class: 'answer-head' }, result?.isError ? badge('the tool reported an error', 'bad') : badge('answered', 'good'), h('span', { class: 'muted' }, `in ${fmt.ms(ms)} · ${fmt.tokens(Math.ceil([...whole].length / 4))}`)),
    (result?.content ?? []).map(block),
    result?.structuredContent !== undefined && !result.content?.length && h('pre', { tabindex: '0' }, JSON.stringify(result.structuredContent, null, 2)),
    h('details', { class: 'raw' }, h('summary', null, 'The whole answer'), h('pre', { tabindex: '0' }, indent(whole))),
  ];
}

const imageKind = /^image\/(png|jpeg|gif|webp|svg\+xml)$/;

function block(c) {
  if (c.type === 'text') return h('pre', { tabindex: '0' }, indent(c.text));
  if (c.type === 'image' && imageKind.test(c.mimeType)) return h('img', { src: `data:${c.mimeType};base64,${c.data}`, alt: 'image in the answer', class: 'answer-image' });
  if (c.type === 'resource' && typeof c.resource?.text === 'string') return [h('p', { class: 'muted' }, c.resource.uri), h('pre', { tabindex: '0' }, c.resource.text)];
  if (c.type === 'resource_link') return h('p', null, badge('resource'), ` ${c.name ?? ''} `, h('code', null, c.uri));
  return h('p', { class: 'muted' }, `${c.type}${c.mimeType ? ` of type ${c.mimeType}` : ''}, see the whole answer`);
}

// keep offers to store a successful call as an example of the tool.
function keep(state, args, result) {
  if (result?.isError || !state.overlay) return null;
  const at = id('example');
  const what = h('input', { id: at, type: 'text', required: true, placeholder: 'what this call does', maxlength: 200 });
  return h('form', {
    class: 'inline',
    onsubmit: async (e) => {
      e.preventDefault();
      try {
        await state.say((o) => (o.examples = [...(o.examples ?? []), { description: what.value.trim(), invocation: JSON.parse(args) }]));
        state.examplesChanged();
        e.target.remove();
        toast('Kept as an example');
      } catch (err) {
        fail(err);
      }
    },
  }, h('label', { for: at }, 'Keep as an example'), what, h('button', null, 'Keep'));
}
