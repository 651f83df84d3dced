// A list of any length of which only the rows in sight are elements. The height of a row must be known before it is
// made.

import { h } from './dom.js';

const overscan = 6; // rows beyond each edge

export class WindowedList {
  // The host scrolls. heightOf gives a row's height in pixels, make its element.
  constructor(host, { heightOf, make }) {
    this.host = host;
    this.heightOf = heightOf;
    this.make = make;
    this.rows = [];
    this.offsets = [0];
    this.shown = new Map(); // index to element
    this.space = h('div', { class: 'window', role: 'none' });
    host.replaceChildren(this.space);
    this.draw = this.draw.bind(this);
    host.addEventListener('scroll', () => requestAnimationFrame(this.draw), { passive: true });
    this.watcher = new ResizeObserver(() => this.draw());
    this.watcher.observe(host);
  }

  // set puts new rows in the place of all.
  set(rows) {
    this.rows = rows;
    this.offsets = new Array(rows.length + 1);
    this.offsets[0] = 0;
    for (let i = 0; i < rows.length; i++) this.offsets[i + 1] = this.offsets[i] + this.heightOf(rows[i]);
    this.space.style.blockSize = `${this.offsets[rows.length]}px`;
    this.redraw();
  }

  // redraw makes the rows in sight anew.
  redraw() {
    for (const el of this.shown.values()) el.remove();
    this.shown.clear();
    this.draw();
  }

  // at gives the row at a height: the last one that begins at or above it.
  at(y) {
    let low = 0;
    let high = this.rows.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.offsets[middle] <= y) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  draw() {
    if (this.rows.length === 0) return;
    const top = this.host.scrollTop;
    const first = Math.max(this.at(top) - overscan, 0);
    const last = Math.min(this.at(top + this.host.clientHeight) + overscan, this.rows.length - 1);
    for (const [i, el] of this.shown) {
      if (i < first || i > last) {
        el.remove();
        this.shown.delete(i);
      }
    }
    for (let i = first; i <= last; i++) {
      if (this.shown.has(i)) continue;
      const el = this.make(this.rows[i], i);
      el.style.insetBlockStart = `${this.offsets[i]}px`;
      el.style.blockSize = `${this.offsets[i + 1] - this.offsets[i]}px`;
      this.shown.set(i, el);
      this.space.append(el);
    }
  }

  // reveal scrolls until a row is in sight, and no further.
  reveal(i) {
    if (i < 0 || i >= this.rows.length) return;
    const { scrollTop, clientHeight } = this.host;
    if (this.offsets[i] < scrollTop) this.host.scrollTop = this.offsets[i];
    else if (this.offsets[i + 1] > scrollTop + clientHeight) this.host.scrollTop = this.offsets[i + 1] - clientHeight;
    this.draw();
  }
}
