// What several views share: the catalogue, and the preferences.

import { get, request, Problem } from './api.js';

// The largest page that the API gives.
const page = 1000;

export const catalogue = {
  items: [], // by id
  byID: new Map(),
  tokens: 0,
  enabled: 0,
  loaded: false,
  error: '', // why they could not be read last
  listeners: new Set(),
};

function notifyListeners() {
  catalogue.byID = new Map(catalogue.items.map((t) => [t.id, t]));
  catalogue.enabled = 0;
  catalogue.tokens = 0;
  for (const t of catalogue.items) {
    if (t.disabled) continue;
    catalogue.enabled++;
    catalogue.tokens += t.tokens;
  }
  for (const f of catalogue.listeners) f();
}

// onCatalogue calls f after each change, until the function that it returns is called.
export function onCatalogue(f) {
  catalogue.listeners.add(f);
  return () => catalogue.listeners.delete(f);
}

// loadCatalogue reads all tools. They show page by page the first time, and all at once later.
export async function loadCatalogue() {
  try {
    await readCatalogue();
  } catch (err) {
    catalogue.error = err.message;
    notifyListeners();
    throw err;
  }
}

async function readCatalogue() {
  const items = [];
  let cursor = '';
  do {
    const list = await get('api/tools', { limit: page, cursor, include_disabled: true });
    items.push(...list.tools);
    cursor = list.nextCursor ?? '';
    if (!catalogue.loaded && cursor) {
      catalogue.items = items;
      notifyListeners();
    }
  } while (cursor);
  catalogue.items = items;
  catalogue.loaded = true;
  catalogue.error = '';
  notifyListeners();
}

// changed updates one tool in the catalogue.
export function changed(tool) {
  const item = catalogue.byID.get(tool.id);
  if (!item) return;
  item.disabled = tool.disabled ?? false;
  item.summary = tool.summary;
  item.category = tool.category;
  notifyListeners();
}

export const categoryOf = (t) => t.category || 'other';

// Preferences are read once and written as a whole; the tag of what was read keeps one page from undoing another's work.
const kept = { value: null, etag: '', reading: null };
const preferencesPath = 'api/tools/preferences';

// preferences returns {value}, or null if the service stores none.
export async function preferences(again = false) {
  if (kept.value === null || again) {
    kept.reading ??= request('GET', preferencesPath)
      .then(({ data, etag }) => Object.assign(kept, { value: data, etag }))
      .finally(() => (kept.reading = null));
    try {
      await kept.reading;
    } catch (err) {
      if (err instanceof Problem && (err.status === 404 || err.status === 403)) return null;
      throw err;
    }
  }
  return kept.value;
}

// prefer changes the preferences by a function that receives a copy of them. If somebody else has changed them
// meanwhile, it receives theirs.
export async function prefer(change) {
  for (let again = false; ; again = true) {
    const now = await preferences(again);
    if (now === null) throw new Problem(404, { detail: 'preferences are not kept here' });
    const next = structuredClone(now);
    change(next);
    const headers = kept.etag ? { 'If-Match': kept.etag } : {};
    try {
      const { data, etag } = await request('PUT', preferencesPath, { body: next, headers });
      Object.assign(kept, { value: data ?? next, etag });
      loadCatalogue().catch(() => {}); // what is hidden has changed, perhaps; an old list does no harm
      return kept.value;
    } catch (err) {
      if (!(err instanceof Problem) || err.status !== 412 || again) throw err;
    }
  }
}

// What belongs to this browser alone.
export const local = {
  get: (name, fallback) => {
    try {
      return JSON.parse(localStorage.getItem(`tooldex.${name}`)) ?? fallback;
    } catch {
      return fallback;
    }
  },
  set: (name, value) => localStorage.setItem(`tooldex.${name}`, JSON.stringify(value)),
};
