// Reading JSON schemas: as rows for a table, and as parts for a form. Schemas of real servers refer to themselves, so everything
// here ends after a few levels.

import { badge, h } from './dom.js';

const deepest = 4;

// resolve follows references inside a schema, and takes the one alternative beside null.
export function resolve(schema, root, steps = 0) {
  if (typeof schema !== 'object' || schema === null) return {};
  if (steps > 8) return {};
  if (typeof schema.$ref === 'string') {
    const { $ref, ...rest } = schema;
    return resolve({ ...lookUp($ref, root), ...rest }, root, steps + 1);
  }
  for (const key of ['anyOf', 'oneOf']) {
    const options = (schema[key] ?? []).filter((s) => s?.type !== 'null');
    if (options.length === 1) {
      const { [key]: _, ...rest } = schema;
      return resolve({ ...options[0], ...rest }, root, steps + 1);
    }
  }
  if (schema.allOf?.length === 1) {
    const { allOf, ...rest } = schema;
    return resolve({ ...allOf[0], ...rest }, root, steps + 1);
  }
  return schema;
}

function lookUp(ref, root) {
  if (!ref.startsWith('#')) return {};
  let at = root;
  for (const part of ref.slice(1).split('/').filter(Boolean)) {
    at = at?.[decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return typeof at === 'object' && at !== null ? at : {};
}

// typeOf names the type of a resolved schema, of which a form makes a field.
export function typeOf(schema) {
  if (schema.const !== undefined || schema.enum) return 'enum';
  const types = [schema.type].flat().filter((t) => t && t !== 'null');
  if (types.length === 1) return types[0];
  if (types.length === 0 && schema.properties) return 'object';
  return 'any';
}

// typeText describes the type for people.
function typeText(schema, root, depth = 0) {
  const s = resolve(schema, root);
  if (s.const !== undefined) return JSON.stringify(s.const);
  if (s.enum) return s.enum.length <= 6 ? s.enum.map((v) => JSON.stringify(v)).join(' | ') : `one of ${s.enum.length}`;
  const options = s.anyOf ?? s.oneOf;
  if (options && depth < 2) return [...new Set(options.map((o) => typeText(o, root, depth + 1)))].join(' | ');
  const types = [s.type].flat().filter(Boolean).filter((t) => t !== 'null');
  if (types.length === 1 && types[0] === 'array') return s.items && depth < 3 ? `${typeText(s.items, root, depth + 1)}[]` : 'array';
  const text = types.join(' | ') || (s.properties ? 'object' : 'any');
  return s.format ? `${text} (${s.format})` : text;
}

// limits describes what a schema demands beside its type.
function limits(s) {
  const out = [];
  const range = [s.minimum ?? s.exclusiveMinimum, s.maximum ?? s.exclusiveMaximum];
  if (range[0] !== undefined || range[1] !== undefined) out.push(`${range[0] ?? '…'} to ${range[1] ?? '…'}`);
  if (s.minLength !== undefined || s.maxLength !== undefined) out.push(`${s.minLength ?? 0} to ${s.maxLength ?? '…'} characters`);
  if (s.minItems !== undefined || s.maxItems !== undefined) out.push(`${s.minItems ?? 0} to ${s.maxItems ?? '…'} items`);
  if (s.pattern) out.push(`matches ${s.pattern}`);
  if (s.enum?.length > 6) out.push(s.enum.map((v) => JSON.stringify(v)).join(', '));
  return out;
}

// rows lists the properties of an object schema and of those within.
function rows(schema, root, depth = 0, prefix = '') {
  const s = resolve(schema, root);
  const out = [];
  for (const [name, raw] of Object.entries(s.properties ?? {})) {
    const p = resolve(raw, root);
    out.push({ name: prefix + name, depth, type: typeText(raw, root), required: s.required?.includes(name) ?? false, schema: p });
    if (depth + 1 >= deepest) continue;
    if (p.properties) out.push(...rows(p, root, depth + 1, `${prefix}${name}.`));
    const items = p.items && resolve(p.items, root);
    if (items?.properties) out.push(...rows(items, root, depth + 1, `${prefix}${name}[].`));
  }
  return out;
}

export function parameterTable(schema) {
  const list = rows(schema ?? {}, schema ?? {});
  if (list.length === 0) return h('p', { class: 'muted' }, 'No parameters.');
  return h('div', { class: 'table-scroll', tabindex: '0', role: 'region', 'aria-label': 'Parameters' },
    h('table', { class: 'parameters' },
      h('thead', null, h('tr', null, ['Name', 'Type', 'What it is'].map((t) => h('th', { scope: 'col' }, t)))),
      h('tbody', null, list.map((r) => h('tr', { class: `depth-${r.depth}` },
        h('th', { scope: 'row' }, h('code', null, r.name), ' ', r.required && badge('required', 'accent')),
        h('td', null, h('code', { class: 'type' }, r.type)),
        h('td', null, r.schema.description, r.schema.default !== undefined && h('span', { class: 'muted' }, ` Default ${JSON.stringify(r.schema.default)}.`),
          limits(r.schema).map((l) => h('span', { class: 'muted limit' }, l))))))));
}
