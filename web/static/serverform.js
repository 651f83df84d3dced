// The form that adds or changes a server, with the output of a trial start, and the dialogs for logging in and removing.

import { get, path, post, request } from './api.js';
import { dialog, fail, fmt, h, id, replace, toast } from './dom.js';

// lines joins a map into lines of name, separator and value. A variable that refers to one of its own name is its name
// alone.
function toLines(map, separator) {
  return Object.entries(map ?? {}).map(([name, value]) => (separator === '=' && value === `\${${name}}` ? name : `${name}${separator}${value}`)).join('\n');
}

const split = (text) => text.split('\n').map((l) => l.trim()).filter(Boolean);

// fromLines reads such lines. A name alone refers to the variable of that name.
function fromLines(text, separator) {
  const out = {};
  for (const line of split(text)) {
    const at = line.indexOf(separator[0]);
    if (at < 0) out[line] = `\${${line}}`;
    else out[line.slice(0, at).trim()] = line.slice(at + 1).trim();
  }
  return out;
}

// isolation describes what an isolated server may reach.
function isolation(i) {
  const parts = [i.read && `reads ${i.read.join(', ')}`, i.write && `changes ${i.write.join(', ')}`, i.network ? 'network' : 'no network', i.memory && `at most ${i.memory} a process`];
  return parts.filter(Boolean).join('; ');
}

// logLines shows what a server printed and what happened to it.
export function logLines(lines) {
  return lines.map((l) => h('span', { class: `line ${l.from}` }, h('span', { class: 'time' }, `${new Date(l.time).toLocaleTimeString('en-GB')} `), l.text, '\n'));
}

// serverForm opens the form, for a new server if name is "". It calls done after a change, with the server's name.
export async function serverForm(name, done) {
  let was = {};
  if (name) {
    try {
      was = await get(path`api/servers/${name}`);
    } catch (err) {
      fail(err);
      return;
    }
  }
  const input = (props) => h('input', { id: id('server'), autocomplete: 'off', spellcheck: 'false', ...props });
  const text = (props) => h('textarea', { id: id('server'), rows: 2, spellcheck: 'false', class: 'mono', ...props });
  const called = input({ value: name, required: true, disabled: Boolean(name), pattern: '[A-Za-z0-9._\\-]+', title: 'letters, digits, dots, underscores and hyphens' });
  const kind = h('select', { id: id('server') }, [['command', 'a command on this machine'], ['http', 'an address, streamable HTTP'], ['sse', 'an address, server-sent events (old)'], ['openapi', 'an API with an OpenAPI description']].map(([v, t]) => h('option', { value: v }, t)));
  kind.value = was.openapi ? 'openapi' : was.url ? (was.type === 'sse' ? 'sse' : 'http') : 'command';
  const command = input({ class: 'mono', value: was.command ?? '', placeholder: 'npx' });
  const args = text({ value: (was.args ?? []).join('\n'), placeholder: '-y\n@modelcontextprotocol/server-memory' });
  const env = text({ value: toLines(was.env, '=') });
  const dir = input({ class: 'mono', value: was.cwd ?? '' });
  const url = input({ class: 'mono', type: 'url', value: was.url ?? '', placeholder: 'the full address of its MCP endpoint' });
  const api = input({ class: 'mono', value: was.openapi ?? '', placeholder: 'a file, or the full address of its description' });
  const headers = text({ value: toLines(was.headers, ': '), placeholder: 'Authorization: Bearer ${TOKEN}' });
  const seconds = (value) => input({ type: 'number', min: 1, max: 86400, value: value || '', placeholder: 'as configured' });
  const startTime = seconds(was.startTimeout);
  const callTime = seconds(was.timeout);
  const eager = h('input', { type: 'checkbox', checked: was.eager ?? false });
  const out = h('div', { class: 'trial', role: 'status' });

  const field = (el, label, hint) => h('div', { class: 'field' }, h('label', { for: el.id }, label), el, hint && h('p', { class: 'hint' }, hint));
  const ofCommand = h('div', null, field(command, 'Command'), field(args, 'Arguments, one per line'),
    field(env, 'Variables, one per line', 'NAME takes the value from the environment of tooldex, and nothing secret is stored. NAME=value stores the value. *** stands for a stored value.'),
    field(dir, 'Folder'), was.isolate && h('p', { class: 'hint' }, `It runs isolated: ${isolation(was.isolate)}. Change this by tooldex servers add --replace --isolate, or over the API.`));
  const ofAPI = h('div', null, field(api, 'Description', 'A file or an address. Each operation becomes a tool. The address below is that of the API, if the description is not to say.'));
  const ofAddress = h('div', null, field(url, 'Address'), field(headers, 'Headers, one per line', 'Name: value. ${VAR} is read from the environment of tooldex. *** stands for a stored value.'));
  const tryIt = h('button', { type: 'button' }, 'Try');
  const save = h('button', { type: 'submit', value: 'save' }, 'Save');
  const both = h('button', { type: 'submit', value: 'start', class: 'primary' }, 'Save and start');
  const close = h('button', { type: 'button', class: 'quiet' }, 'Cancel');
  const form = h('form', null,
    was.inFile && h('p', { class: 'note warn' }, 'This server is in the configuration file. Change it there.'),
    field(called, 'Name'), field(kind, 'It is'), ofCommand, ofAPI, ofAddress,
    h('div', { class: 'row-fields' }, field(startTime, 'Seconds to start'), field(callTime, 'Seconds for a call')),
    h('label', { class: 'check' }, eager, 'Keep it running'),
    h('div', { class: 'actions' }, both, save, tryIt, close), out);
  const d = dialog(name ? `Edit ${name}` : 'Add a server', form);
  d.classList.add('wide');
  for (const button of [save, both]) button.disabled = was.inFile ?? false;

  const show = () => {
    ofCommand.hidden = kind.value !== 'command';
    ofAddress.hidden = kind.value === 'command';
    command.required = kind.value === 'command';
    api.required = kind.value === 'openapi';
    ofAPI.hidden = !api.required;
    url.required = !command.required && !api.required;
    url.disabled = command.required; // a hidden field must not be validated
  };
  kind.addEventListener('change', show);
  show();

  function settings() {
    const s = { startTimeout: Number(startTime.value) || undefined, timeout: Number(callTime.value) || undefined, eager: eager.checked || undefined, roots: was.roots, disabled: was.disabled };
    if (kind.value !== 'command') return { ...s, type: kind.value, openapi: kind.value === 'openapi' ? api.value.trim() : undefined, url: url.value.trim(), headers: fromLines(headers.value, ':') };
    let program = command.value.trim();
    let list = split(args.value);
    if (list.length === 0 && /^[\w.-]+\s/.test(program)) [program, ...list] = program.split(/\s+/); // a pasted command line
    return { ...s, command: program, args: list, env: fromLines(env.value, '='), cwd: dir.value.trim() || undefined };
  }

  const say = (kindOf, ...what) => replace(out, h('div', { class: `note ${kindOf}` }, what));
  const problem = (err) => err.name !== 'AbortError' && say('bad', h('p', null, err.message), err.hint && h('p', null, err.hint));
  const busy = (is) => [save, both, tryIt].forEach((b) => (b.disabled = is || (b !== tryIt && Boolean(was.inFile))));
  const leaving = new AbortController();
  d.addEventListener('close', () => leaving.abort()); // which ends a trial
  close.addEventListener('click', () => d.close());

  tryIt.addEventListener('click', async () => {
    if (!form.reportValidity()) return;
    busy(true);
    say('', 'Starting it. A package that is installed first may take minutes.');
    try {
      const t = await post(path`api/servers/${called.value}` + '/try', settings(), leaving.signal);
      say(t.ok ? 'good' : 'bad', h('p', null, t.ok ? `It works: ${fmt.count(t.tools.length, 'tool')} after ${fmt.ms(t.ms)}` : t.error), t.hint && h('p', null, t.hint));
      if (t.tools.length) out.append(h('p', { class: 'hint' }, t.tools.join(', ')));
      if (t.lines.length) out.append(h('pre', { class: 'log', tabindex: '0', 'aria-label': 'Output of the trial start' }, logLines(t.lines)));
    } catch (err) {
      problem(err);
    }
    busy(false);
  });

  form.addEventListener('submit', async (e) => {
    e.preventDefault();
    const starts = e.submitter?.value !== 'save';
    busy(true);
    try {
      const { data } = await request('PUT', path`api/servers/${called.value}`, { body: settings(), headers: name ? {} : { 'If-None-Match': '*' } });
      name = called.value; // if the start fails, the next save is an edit
      called.disabled = true;
      done(name);
      const plain = data.plain?.length ? `. Stored in plain text: ${data.plain.join(', ')}` : '';
      if (starts && !was.disabled) {
        say('', `${name} is saved${plain}. Starting it. A package that is installed first may take minutes.`);
        await post(path`api/servers/${name}` + '/start', undefined, leaving.signal);
      }
      toast(`${name} is saved${plain}`);
      d.close();
    } catch (err) {
      problem(err);
    }
    done(name);
    busy(false);
  });
  (name ? (kind.value === 'command' ? command : url) : called).focus();
}

// removeServer asks, and then removes a server.
export function removeServer(name, done) {
  const d = dialog(`Remove ${name}?`,
    h('p', null, 'Its tools are removed with it, and what was added to them stays in overlays.'),
    h('form', { method: 'dialog' }, h('div', { class: 'actions' }, h('button', { value: 'yes', class: 'primary' }, 'Remove'), h('button', { value: 'no', autofocus: true }, 'Cancel'))));
  d.addEventListener('close', async () => {
    if (d.returnValue !== 'yes') return;
    try {
      await request('DELETE', path`api/servers/${name}`);
      toast(`${name} is removed`);
    } catch (err) {
      fail(err);
    }
    done();
  });
}

// loginServer begins a login, shows where to agree to it, and waits until it is done.
export async function loginServer(name, done) {
  try {
    const { visit } = await post(path`api/servers/${name}` + '/login');
    const says = h('p', { role: 'status' }, 'Waiting for your consent there.');
    const d = dialog(`Log in to ${name}`,
      h('p', null, h('a', { href: visit, target: '_blank', rel: 'noopener noreferrer' }, 'Open the login page'), ' in a browser on the machine where tooldex runs.'), says,
      h('form', { method: 'dialog' }, h('button', null, 'Close')));
    const timer = setInterval(async () => {
      const { login } = await get(path`api/servers/${name}`).catch(() => ({ login: 'waiting' }));
      if (login === 'waiting') return;
      clearInterval(timer);
      says.textContent = login === 'done' ? 'You are logged in.' : login || 'The login has ended.';
      done();
    }, 1000);
    d.addEventListener('close', () => clearInterval(timer));
  } catch (err) {
    fail(err);
  }
}
