// A form made of a JSON schema. It gives JSON text rather than values, so that a large number keeps its digits.

import { h, id } from './dom.js';
import { resolve, typeOf } from './schema.js';

const deepest = 3;
const number = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

// schemaForm returns {element, text, fill}. Text gives the JSON of what was filled in, or throws an Error that names
// the field; fill puts an object into the fields.
export function schemaForm(schema) {
  const field = objectField(schema ?? {}, schema ?? {}, 0);
  field.element.classList.add('schema-form');
  return { element: field.element, text: () => field.text() ?? '{}', fill: field.fill };
}

// A field is {element, text, fill}. Its text is undefined where nothing was filled in.
function fieldOf(name, schema, root, required, depth) {
  const s = resolve(schema, root);
  const type = typeOf(s);
  if (type === 'object' && s.properties && depth < deepest) {
    const inner = objectField(s, root, depth + 1);
    const el = h('fieldset', { class: 'nested' }, h('legend', null, label(name, required)), s.description && h('p', { class: 'hint' }, s.description), inner.element);
    return { ...inner, element: el, text: () => inner.text() ?? (required ? '{}' : undefined) };
  }
  const at = id('field');
  const hint = s.description ? id('hint') : null;
  const input = inputOf(type, s, root, { id: at, 'aria-describedby': hint, required, 'aria-required': required ? 'true' : null }, name);
  return {
    ...input,
    element: h('div', { class: 'field' }, h('label', { for: at }, label(name, required)), input.element, hint && h('p', { class: 'hint', id: hint }, short(s.description))),
    text: () => {
      const text = input.text();
      if (text === undefined && required) throw new Error(`${name} is required`);
      return text;
    },
  };
}

const label = (name, required) => [h('code', null, name), required && h('span', { class: 'required' }, ' required')];

const short = (text) => (text.length > 240 ? `${text.slice(0, 240)}…` : text);

function objectField(schema, root, depth) {
  const s = resolve(schema, root);
  const required = new Set(s.required ?? []);
  // What is required comes first, as in a signature.
  const names = Object.keys(s.properties ?? {}).sort((a, b) => required.has(b) - required.has(a));
  const fields = names.map((name) => [name, fieldOf(name, s.properties[name], root, required.has(name), depth)]);
  return {
    element: h('div', { class: 'fields' }, fields.map(([, f]) => f.element), fields.length === 0 && h('p', { class: 'muted' }, 'No parameters.')),
    text: () => {
      const parts = fields.map(([name, f]) => [name, f.text()]).filter(([, text]) => text !== undefined);
      return parts.length ? `{${parts.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}` : undefined;
    },
    fill: (value) => fields.forEach(([name, f]) => f.fill(value?.[name])),
  };
}

function inputOf(type, s, root, props, name) {
  switch (type) {
    case 'enum': return choice((s.enum ?? [s.const]).map((v) => JSON.stringify(v)), s, props);
    case 'boolean': return choice(['true', 'false'], s, props);
    case 'integer':
    case 'number': return numberInput(type, s, props, name);
    case 'string': return stringInput(s, props, name);
    case 'array': {
      const items = resolve(s.items ?? {}, root);
      if (typeOf(items) === 'string') return lines(props);
      return json(s, props, name);
    }
    default: return json(s, props, name);
  }
}

const blank = (s) => (s.default !== undefined ? `default ${JSON.stringify(s.default)}` : '');

function choice(values, s, props) {
  const el = h('select', props, h('option', { value: '' }, s.default !== undefined ? blank(s) : '—'), values.map((v) => h('option', { value: v }, v.replace(/^"(.*)"$/, '$1'))));
  return { element: el, text: () => el.value || undefined, fill: (v) => (el.value = v === undefined ? '' : JSON.stringify(v)) };
}

function numberInput(type, s, props, name) {
  const el = h('input', { ...props, type: 'text', inputmode: type === 'integer' ? 'numeric' : 'decimal', autocomplete: 'off', placeholder: blank(s) });
  return {
    element: el,
    text: () => {
      const text = el.value.trim();
      if (text && !number.test(text)) throw new Error(`${name} is not a number`);
      return text || undefined;
    },
    fill: (v) => (el.value = v === undefined ? '' : String(v)),
  };
}

// longNames are those of texts that run over lines.
const longNames = /(content|body|text|code|script|message|markdown|html|sql|description|prompt|thought|patch|diff)$/i;

function stringInput(s, props, name) {
  const long = s.format === undefined && longNames.test(name);
  const el = h(long ? 'textarea' : 'input', { ...props, rows: long ? 2 : null, type: long ? null : 'text', autocomplete: 'off', spellcheck: 'false', placeholder: blank(s) });
  return { element: el, text: () => (el.value === '' ? undefined : JSON.stringify(el.value)), fill: (v) => (el.value = v === undefined ? '' : typeof v === 'string' ? v : JSON.stringify(v)) };
}

function lines(props) {
  const el = h('textarea', { ...props, rows: 2, spellcheck: 'false', placeholder: 'one to a line' });
  return {
    element: el,
    text: () => {
      const list = el.value.split('\n').map((l) => l.trim()).filter(Boolean);
      return list.length ? JSON.stringify(list) : undefined;
    },
    fill: (v) => (el.value = Array.isArray(v) ? v.join('\n') : ''),
  };
}

function json(s, props, name) {
  const el = h('textarea', { ...props, rows: 2, class: 'mono', spellcheck: 'false', placeholder: blank(s) || `JSON${s.type ? `, ${[s.type].flat().join(' or ')}` : ''}` });
  return {
    element: el,
    text: () => {
      const text = el.value.trim();
      if (!text) return undefined;
      try {
        JSON.parse(text);
      } catch (err) {
        throw new Error(`${name} is not JSON: ${err.message}`);
      }
      return text;
    },
    fill: (v) => (el.value = v === undefined ? '' : JSON.stringify(v, null, 2)),
  };
}
