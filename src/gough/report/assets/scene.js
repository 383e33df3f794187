// What all figures share: elements, the note beside the pointer, the clock that links figures, gestures.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** An element of a drawing, with attributes and children; text among them stays text. */
const make = (name, attributes = {}, children = []) => fill(document.createElementNS(SVG, name), attributes, children);

/** The same outside of drawings. */
const html = (name, attributes = {}, children = []) => fill(document.createElement(name), attributes, children);

const color = (name) => (typeof name === "number" ? `var(--series-${(name % 8) + 1})` : `var(--${name})`);

const measuring = document.createElement("canvas").getContext("2d");

/** Pixels that a text takes in the font of a drawing. */
function widthOf(text, svg) {
  const { fontStyle, fontWeight, fontSize, fontFamily } = getComputedStyle(svg);
  measuring.font = `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}`;
  return measuring.measureText(text).width;
}

/** A text that takes no more than so many pixels: its beginning, where it is longer. */
function shortenedTo(text, room, svg) {
  if (widthOf(text, svg) <= room) return text;
  const letters = [...text];
  while (letters.length > 1 && widthOf(`${letters.join("")}\u2026`, svg) > room) letters.pop();
  return `${letters.join("")}\u2026`;
}

/** First and last of n abscissas from `start` on. */
const stretch = ({ start, step, n }) => [start, start + step * Math.max(n - 1, 1)];

/** A stretch of abscissas that several figures look at, and the place that the reader points to. */
class Clock {
  constructor(full) {
    this.full = full;
    this.view = [...full];
    this.cursor = null;
    this.watchers = new Set();
    this.waiting = false;
  }

  widen([low, high]) {
    this.full = [Math.min(this.full[0], low), Math.max(this.full[1], high)];
    this.view = [...this.full];
  }

  get isZoomed() {
    return this.view[0] > this.full[0] || this.view[1] < this.full[1];
  }

  show(low, high) {
    const [first, last] = this.full;
    const width = Math.min(Math.max(high - low, (last - first) * 1e-4), last - first);
    const start = Math.min(Math.max(low, first), last - width);
    this.view = [start, start + width];
    this.tell();
  }

  zoom(at, factor) {
    const [low, high] = this.view;
    this.show(at + (low - at) * factor, at + (high - at) * factor);
  }

  pan(distance) {
    this.show(this.view[0] + distance, this.view[1] + distance);
  }

  reset() {
    this.show(...this.full);
  }

  point(at) {
    this.cursor = at;
    this.tell();
  }

  tell() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      for (const watcher of this.watchers) watcher();
    });
  }
}

/** The box of text beside the pointer. It never leaves its figure. */
class Tip {
  constructor(root) {
    this.root = root;
    this.box = html("div", { class: "tip", hidden: "" });
    root.append(this.box);
  }

  /** Beside a place in the figure's drawing; rows are [color or null, words, value]. */
  show(svg, x, inside, title, rows) {
    const y = inside + svg.getBoundingClientRect().top - this.root.getBoundingClientRect().top;
    const lines = rows.map(([tint, words, value]) => {
      const swatch = html("i");
      if (tint !== null) swatch.style.background = color(tint);
      return html("div", {}, [swatch, html("span", {}, [words]), html("b", {}, [value])]);
    });
    this.box.replaceChildren(html("strong", {}, [title]), ...lines);
    this.box.hidden = false;
    const room = this.root.clientWidth - this.box.offsetWidth - 4;
    const beside = x + 14 <= room ? x + 14 : x - this.box.offsetWidth - 14;
    this.box.style.left = `${Math.max(2, Math.min(beside, room))}px`;
    this.box.style.top = `${Math.max(2, Math.min(y + 12, this.root.clientHeight - this.box.offsetHeight - 2))}px`;
  }

  hide() {
    this.box.hidden = true;
  }

  get text() {
    return [...this.box.children].map((line) => line.textContent).join("; ");
  }
}

/** Words for a screen reader, spoken when they change. */
function announcer(root) {
  const box = html("div", { class: "unseen", "aria-live": "polite" });
  root.append(box);
  return (words) => {
    box.textContent = words;
  };
}

/** Call `draw(width)` now and whenever the width of an element changes. */
function onWidth(element, draw) {
  let last = 0;
  const measure = () => {
    const width = Math.floor(element.clientWidth);
    if (width > 0 && width !== last) {
      last = width;
      draw(width);
    }
  };
  new ResizeObserver(measure).observe(element);
  measure();
}

/** Call `refresh` whenever an element comes near the window; the answer tells whether it is. */
function whenSeen(element, refresh) {
  let seen = true;
  const look = ([entry]) => {
    seen = entry.isIntersecting;
    if (seen) refresh();
  };
  new IntersectionObserver(look, { rootMargin: "300px" }).observe(element);
  return () => seen;
}

/** Is the wheel meant for the figure, and not for the page? So it is with Ctrl, a pinch, or after a click on it. */
const wheelIsOurs = (event, element) => event.ctrlKey || event.metaKey || document.activeElement === element;

/** A factor for one turn of the wheel, alike for lines, pages and pixels. */
const wheelFactor = (event) => 1.0015 ** Math.max(-300, Math.min(300, event.deltaY * [1, 16, 200][event.deltaMode]));

/** Where an event happened, in pixels of the element. */
function placeIn(element, event) {
  const box = element.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

/** Follow pointers: one is told to `drag`, two to `pinch`. Handlers get places in pixels of the element. */
function followPointers(element, { begin, drag, end, pinch }) {
  const down = new Map();
  const spread = () => {
    const [[ax, ay], [bx, by]] = [...down.values()];
    return { x: (ax + bx) / 2, y: (ay + by) / 2, distance: Math.max(Math.hypot(ax - bx, ay - by), 20) };
  };
  element.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse" && event.button !== 0) return;
    down.set(event.pointerId, placeIn(element, event));
    element.setPointerCapture(event.pointerId);
    if (down.size === 1) begin(placeIn(element, event), event);
    else if (down.size === 2) end(null, event);
  });
  element.addEventListener("pointermove", (event) => {
    const place = placeIn(element, event);
    if (down.size === 2 && down.has(event.pointerId)) {
      const before = spread();
      down.set(event.pointerId, place);
      pinch(before, spread());
    } else drag(place, event, down.size === 1 && down.has(event.pointerId));
  });
  const release = (event) => {
    if (!down.delete(event.pointerId) || down.size > 0) return;
    end(event.type === "pointerup" ? placeIn(element, event) : null, event);
  };
  element.addEventListener("pointerup", release);
  element.addEventListener("pointercancel", release);
}

/** Call `leave` when a mouse goes away or the figure loses the focus; a finger may be lifted to read what it pointed at. */
function onLeave(element, leave) {
  element.addEventListener("pointerleave", (event) => {
    if (event.pointerType !== "touch") leave();
  });
  element.addEventListener("blur", leave);
}

/** Make room for a live figure: the drawing that was there goes. */
function takeOver(root, ...children) {
  root.replaceChildren(...children);
  root.classList.add("live");
}
