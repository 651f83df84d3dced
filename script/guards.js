// Built-in functions that loop, recurse or allocate without running an instruction of the script cannot be interrupted.
// This program bounds what they are given, and removes those that cannot be bounded. It returns the function that
// writes JSON.
(function (maxItems, maxText, maxPattern, parse) {
  "use strict";
  const apply = Reflect.apply, construct = Reflect.construct, isArray = Array.isArray, string = String;
  const quote = JSON.stringify, define = Object.defineProperty, names = Reflect.ownKeys, keys = Object.keys;
  const refuse = (what) => { throw new RangeError(what + " would be larger than a script may make"); };
  const items = (n) => { if (!(n <= maxItems)) refuse("a list"); };
  const text = (n) => { if (!(n <= maxText)) refuse("a text"); };
  const list = (v) => {
    if (!isArray(v)) throw new TypeError("a list is required; Array.from makes one");
    items(v.length);
  };
  const fix = (of, name, value) => define(of, name, { value, writable: false, enumerable: false, configurable: false });
  // guard calls before(this, args) first; if that returns something, it takes the place of this.
  const guard = (of, name, before) => {
    const original = of[name];
    if (typeof original !== "function") return;
    const guarded = { call(...args) {
      const self = before(this, args);
      return apply(original, self === undefined ? this : self, args);
    } }.call;
    define(guarded, "name", { value: string(original.name) });
    fix(of, name, guarded);
  };

  const lists = Array.prototype;
  lists.flat = function (depth = 1) {
    const out = [];
    const add = (v, d) => { list(v); for (const x of v) isArray(x) && d > 0 ? add(x, d - 1) : out.push(x); };
    add(this, depth);
    return out;
  };
  lists.flatMap = function (f, self) { return this.map(f, self).flat(); };
  guard(lists, "concat", (self, args) => {
    let n = self.length;
    for (const a of args) n += isArray(a) ? a.length : 1;
    items(n);
  });
  guard(lists, "join", (self, args) => {
    list(self);
    args[0] = args[0] === undefined ? "," : string(args[0]);
    let n = args[0].length * self.length;
    for (const v of self) if (typeof v === "string") n += v.length;
    text(n);
  });
  for (const name of names(lists)) {
    if (!["constructor", "concat", "join"].includes(name)) guard(lists, name, (self) => { list(self); });
  }

  const strings = string.prototype;
  const bounded = (name, size) => guard(strings, name, (self, args) => {
    const s = string(self);
    text(size(s, args));
    return s;
  });
  const number = (args, i) => (args[i] = Number(args[i]), args[i] > 0 ? args[i] : 0);
  bounded("repeat", (s, args) => s.length * number(args, 0));
  bounded("padStart", (s, args) => number(args, 0));
  bounded("padEnd", (s, args) => number(args, 0));
  bounded("concat", (s, args) => {
    let n = s.length;
    for (let i = 0; i < args.length; i++) n += (args[i] = string(args[i])).length;
    return n;
  });
  const replaced = (s, args) => {
    if (typeof args[1] === "function") return 0;
    const by = args[1] = string(args[1]);
    const parts = by.split("$").length;
    return (s.length + 1) * (/\$[`']/.test(by) ? parts * (s.length + 1) : by.length + parts);
  };
  bounded("replace", replaced);
  bounded("replaceAll", replaced);
  guard(RegExp.prototype, Symbol.replace, (self, args) => {
    args[0] = string(args[0]);
    text(replaced(args[0], args));
  });
  const split = strings.split;
  fix(strings, "split", function (by, limit) {
    const s = string(this);
    const most = limit === undefined ? maxItems + 1 : Math.min(limit, maxItems + 1);
    const out = apply(split, s, [by, most]);
    items(out.length);
    return out;
  });

  const pattern = (p) => { if (p instanceof RegExp) return p; p = string(p); if (p.length > maxPattern) refuse("a pattern"); return p; };
  for (const name of ["match", "matchAll", "search"]) {
    guard(strings, name, (self, args) => { if (args.length > 0) args[0] = pattern(args[0]); });
  }
  guard(RegExp.prototype, "compile", (self, args) => { args[0] = pattern(args[0]); });
  const makeRegExp = RegExp, makeArray = Array;
  const replaceGlobal = (name, made, make) => {
    fix(make, "prototype", made.prototype);
    for (const key of names(made)) if (!(key in make) && key !== "of" && key !== "from") fix(make, key, made[key]);
    fix(made.prototype, "constructor", make);
    fix(globalThis, name, make);
  };
  replaceGlobal("RegExp", makeRegExp, function (p, flags) {
    return construct(makeRegExp, flags === undefined ? [pattern(p)] : [pattern(p), flags]);
  });
  replaceGlobal("Array", makeArray, function (...args) {
    if (args.length === 1 && typeof args[0] === "number") items(args[0]);
    return construct(makeArray, args);
  });
  fix(Array, "of", (...args) => args);
  fix(Array, "from", (source, f, self) => {
    const out = [];
    const add = (v) => out.push(f === undefined ? v : apply(f, self, [v, out.length]));
    if (source[Symbol.iterator] !== undefined) for (const v of source) add(v);
    else for (let i = 0, n = Number(source.length) || 0; items(n), i < n; i++) add(source[i]);
    return out;
  });

  const callable = Function.prototype;
  guard(callable, "apply", (self, args) => { if (args[1] != null) list(args[1]); });
  guard(Reflect, "apply", (self, args) => { list(args[2]); });
  guard(Reflect, "construct", (self, args) => { list(args[1]); });
  for (const f of [function () {}, async function () {}, function* () {}]) {
    fix(Object.getPrototypeOf(f), "constructor", undefined); // they compile texts
  }
  for (const name of ["eval", "Function", "BigInt", "Proxy", "ArrayBuffer", "SharedArrayBuffer", "DataView", "Atomics",
    "Int8Array", "Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array",
    "Float16Array", "Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array"]) delete globalThis[name];
  delete string.raw;

  // stringify recurses in the script's own stack, whose depth is bounded.
  const stringify = (value, replacer, space) => {
    const indent = typeof space === "number" ? " ".repeat(Math.min(10, space)) : typeof space === "string" ? space : "";
    const pick = isArray(replacer) ? new Set(replacer.map(string)) : undefined;
    let size = 0;
    const write = (holder, key, pad) => {
      let v = holder[key];
      if (v != null && typeof v.toJSON === "function") v = v.toJSON(key);
      if (typeof replacer === "function") v = apply(replacer, holder, [key, v]);
      if (v instanceof Number || v instanceof string || v instanceof Boolean) v = v.valueOf();
      if (v === null || typeof v !== "object") {
        const out = typeof v === "function" ? undefined : quote(v);
        text(size += out === undefined ? 0 : out.length);
        return out;
      }
      const inner = pad + indent, parts = [];
      if (isArray(v)) {
        list(v);
        for (let i = 0; i < v.length; i++) parts.push(write(v, string(i), inner) ?? "null");
      } else {
        for (const k of keys(v)) {
          const part = pick === undefined || pick.has(k) ? write(v, k, inner) : undefined;
          if (part !== undefined) parts.push(quote(k) + (indent === "" ? ":" : ": ") + part);
        }
      }
      const [open, close] = isArray(v) ? "[]" : "{}";
      if (indent === "" || parts.length === 0) return open + parts.join(",") + close;
      return open + "\n" + inner + parts.join(",\n" + inner) + "\n" + pad + close;
    };
    return write({ "": value }, "", "");
  };
  const read = JSON.parse;
  fix(JSON, "stringify", stringify);
  fix(JSON, "parse", (s, reviver) => { s = string(s); parse(s); return reviver === undefined ? read(s) : read(s, reviver); });
  delete JSON.rawJSON;
  return stringify;
})
