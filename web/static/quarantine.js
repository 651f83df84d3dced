// The tools that a person should review: what was found in each, what changed in it, and a button that approves exactly
// the form that is shown.

import { get, post } from './api.js';
import { badge, fail, fmt, h, id, replace, toast } from './dom.js';
import { loadCatalogue } from './state.js';

// visible replaces invisible characters by their code points, so that nobody approves what they cannot see.
const hiding = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;
export const visible = (text) => text.replace(hiding, (c) => `⟨U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`);

export class Quarantine {
  constructor() {
    this.title = h('h3', { id: id('quarantine') });
    this.says = h('p', { class: 'muted' });
    this.list = h('ul', { class: 'servers' });
    this.element = h('section', { class: 'section', hidden: true, 'aria-labelledby': this.title.id }, this.title, this.says, this.list);
    this.drawn = '';
  }

  async look() {
    try {
      this.show((await get('api/quarantine')).tools);
    } catch {
      this.element.hidden = true; // without permission the section stays hidden
    }
  }

  show(tools) {
    const now = JSON.stringify(tools);
    if (now === this.drawn) return; // do not move what a person is reading
    this.drawn = now;
    const held = tools.filter((t) => t.held).length;
    this.element.hidden = tools.length === 0;
    this.title.textContent = held ? `${fmt.count(held, 'tool')} held` : `${fmt.count(tools.length, 'suspicious tool')}`;
    this.says.textContent = 'Held tools are neither found nor called until a person approves them. Their texts come from strangers and may try to mislead you, too.';
    replace(this.list, tools.map((t) => this.card(t)));
  }

  card(t) {
    const approve = h('button', { type: 'button', class: t.held ? 'primary' : '', 'aria-label': `Approve ${t.id}`, onclick: () => this.approve(t, approve) }, 'Approve');
    return h('li', { class: 'card' },
      h('div', { class: 'card-head' }, h('div', null, h('h4', null, t.kind && `${t.kind} `, t.id, ' ', t.held ? badge('held', 'bad') : badge('warning', 'warn')), h('p', { class: 'facts' }, visible(t.why))), h('div', { class: 'actions' }, approve)),
      (t.suspicions ?? []).length > 0 && h('dl', { class: 'suspicions' }, t.suspicions.map((s) => [
        h('dt', null, badge(s.severity, s.severity === 'high' ? 'bad' : 'warn'), ` ${s.rule}`, s.field && h('code', null, visible(s.field))),
        h('dd', null, s.excerpt && h('q', null, visible(s.excerpt)), h('p', null, `${s.why}. ${s.remedy}.`)),
      ])),
      (t.changes ?? []).length > 0 && h('dl', { class: 'changes' }, t.changes.map((c) => [
        h('dt', null, h('code', null, visible(c.field))),
        h('dd', null, c.was && h('del', null, visible(c.was)), c.now && h('ins', null, visible(c.now))),
      ])));
  }

  async approve(t, button) {
    button.disabled = true;
    try {
      this.show((await post('api/quarantine/approve', { tools: [{ id: t.id, kind: t.kind, form: t.form }] })).tools);
      toast(`${t.id} is approved`);
      loadCatalogue().catch(fail);
    } catch (err) {
      fail(err);
      button.disabled = false;
      await this.look();
    }
  }
}
