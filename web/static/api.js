// Access to the API: relative to the page, with the token if one is required, and errors as problems.

const base = new URL('.', document.baseURI);
const tokenKey = 'tooldex.token';

// Problem is an error answer in the form of RFC 9457.
export class Problem extends Error {
  constructor(status, body) {
    super(body?.detail || body?.title || `the server answers ${status}`);
    this.status = status;
    this.code = body?.code ?? '';
    this.hint = body?.hint ?? '';
  }
}

let askToken = null; // set by the page

export function onToken(ask) {
  askToken = ask;
}

// takeToken keeps the token of an address that ends with #token=TOKEN, and removes it from the address.
export function takeToken() {
  const given = /^#token=([\x21-\x7e]+)$/.exec(location.hash);
  if (!given) return;
  sessionStorage.setItem(tokenKey, given[1]);
  history.replaceState(null, '', location.pathname);
}

export function hasToken() {
  return sessionStorage.getItem(tokenKey) !== null;
}

export function forgetToken() {
  sessionStorage.removeItem(tokenKey);
}

// path escapes a tool's id or a server's name into one segment.
export const path = (strings, ...values) => strings.reduce((out, s, i) => out + encodeURIComponent(values[i - 1]) + s);

// request sends a request and returns {data, etag}. Body is sent as it is if it is text, which must be JSON. The error is
// a Problem, or an AbortError of the signal. Cookies says that the answer may set cookies, which others do not need.
export async function request(method, where, { query, body, signal, headers, cookies } = {}) {
  const url = new URL(where, base);
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const v of [value].flat()) if (v !== undefined && v !== null && v !== '') url.searchParams.append(name, v);
  }
  const init = { method, signal, headers: { Accept: 'application/json', 'X-Tooldex': 'panel', ...headers }, credentials: cookies ? 'same-origin' : 'omit', redirect: 'error', cache: 'no-store' };
  if (body !== undefined) {
    init.headers['Content-Type'] = 'application/json';
    init.body = typeof body === 'string' ? body : JSON.stringify(body);
  }
  for (;;) {
    const token = sessionStorage.getItem(tokenKey);
    if (token) init.headers.Authorization = `Bearer ${token}`;
    let res;
    try {
      res = await fetch(url, init);
    } catch (err) {
      if (err.name === 'AbortError') throw err;
      throw new Problem(0, { detail: 'tooldex does not answer', hint: 'is it still running?' });
    }
    if (res.status === 401 && askToken) {
      const why = new Problem(res.status, parse(await res.text()));
      const given = await askToken(token !== null, method === 'GET' ? null : why);
      if (!given) throw why;
      sessionStorage.setItem(tokenKey, given);
      continue;
    }
    const text = await res.text();
    if (!res.ok) throw new Problem(res.status, parse(text));
    return { data: parse(text), text, etag: res.headers.get('ETag') ?? '' };
  }
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export const get = async (where, query, signal) => (await request('GET', where, { query, signal })).data;
export const post = async (where, body, signal) => (await request('POST', where, { body, signal })).data;
export const put = async (where, body) => (await request('PUT', where, { body })).data;

// latest runs f with a signal that the next call aborts, so that only the last of several answers counts.
export function latest(f) {
  let running = null;
  return (...args) => {
    running?.abort();
    running = new AbortController();
    return f(running.signal, ...args);
  };
}
