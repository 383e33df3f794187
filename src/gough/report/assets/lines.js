// Curves and bands over a common abscissa in panels one above the other: cross-hair, zoom, pan, legend, keyboard.

const LEFT = 54;
const RIGHT = 8;
const TITLE = 20;
const AXIS = 20;

class Lines {
  constructor(root, spec, page) {
    this.spec = spec;
    this.clock = page.clock(spec.clock, spec.x);
    this.panels = spec.panels.map((panel) => ({ ...panel, marks: panel.marks.map((mark) => this.read(mark, page)) }));
    this.hidden = new Set();
    this.build(root);
    onWidth(root, (width) => this.resize(width));
    const isSeen = whenSeen(root, () => this.refresh());
    this.clock.watchers.add(() => isSeen() && this.refresh());
  }

  /** A mark with its curves; bounds may be counted from another curve. */
  read(mark, page) {
    const around = mark.around ? page.curve(mark.around) : null;
    const curves = ["y", "lower", "upper"]
      .filter((key) => mark[key])
      .map((key) => [key, around ? page.curve(mark[key]).map((v, i) => v + around[i]) : page.curve(mark[key])]);
    return { ...mark, ...Object.fromEntries(curves) };
  }

  build(root) {
    this.root = root;
    this.svg = make("svg", {
      class: "lines",
      tabindex: "0",
      role: "application",
      "aria-roledescription": "interactive figure",
      "aria-label": `${this.spec.description} Arrow keys move the cursor, plus and minus zoom, 0 resets.`,
    });
    takeOver(root, this.toolbar(), this.svg);
    this.tip = new Tip(root);
    this.say = announcer(root);
    for (const [index, panel] of this.panels.entries()) {
      const id = `${root.parentElement.id}-clip-${index}`;
      panel.box = make("rect");
      panel.grid = make("g", { class: "grid" });
      panel.spanPath = make("path", { class: "span" });
      panel.paths = panel.marks.map((mark) => this.path(mark));
      panel.dots = panel.marks.map((mark) => this.dot(mark));
      panel.name = make("text", { class: "title" }, [withUnit(panel.title, panel.unit && `(${panel.unit})`)]);
      const inside = make("g", { "clip-path": `url(#${id})` }, [panel.spanPath, ...panel.paths, ...panel.dots]);
      this.svg.append(make("clipPath", { id }, [panel.box]), panel.grid, inside, panel.name);
    }
    this.cross = make("path", { class: "cross" });
    this.selection = make("rect", { class: "selection", visibility: "hidden" });
    this.svg.append(this.cross, this.selection);
    this.listen();
  }

  path(mark) {
    const path = make("path", { class: mark.kind });
    if (mark.kind === "band") path.style.fill = color(mark.color);
    else {
      path.style.stroke = color(mark.color);
      path.style.strokeWidth = mark.width;
      if (mark.dashed) path.style.strokeDasharray = "5 4";
    }
    return path;
  }

  dot(mark) {
    const dot = make("circle", { r: mark.kind === "line" ? 3 : 0, visibility: "hidden" });
    dot.style.fill = color(mark.color);
    return dot;
  }

  toolbar() {
    const marks = new Map(this.panels.flatMap((panel) => panel.marks).map((mark) => [mark.label, mark]));
    const buttons = [...marks.values()].map((mark) => {
      const swatch = html("i", { class: mark.kind });
      swatch.style.background = color(mark.color);
      const button = html("button", { type: "button", "aria-pressed": "true" }, [swatch, mark.label]);
      button.addEventListener("click", () => this.toggle(mark.label, button));
      return button;
    });
    if (this.panels.some((panel) => panel.spans && panel.spans.length)) {
      buttons.push(html("span", {}, [html("i", { class: "span" }), this.spec.spans]));
    }
    this.back = html("button", { type: "button", class: "reset", disabled: "" }, ["Whole view"]);
    this.back.addEventListener("click", () => this.clock.reset());
    return html("div", { class: "toolbar" }, [...buttons, this.back]);
  }

  toggle(label, button) {
    const hide = !this.hidden.has(label);
    if (hide) this.hidden.add(label);
    else this.hidden.delete(label);
    button.setAttribute("aria-pressed", String(!hide));
    this.draw();
  }

  resize(width) {
    this.width = width;
    let top = 0;
    for (const panel of this.panels) {
      panel.top = top + TITLE;
      panel.bottom = panel.top + panel.height;
      top = panel.bottom + (panel.axis ? AXIS : 0) + 6;
    }
    const last = this.panels.at(-1);
    this.height = top + 16;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${this.height}`);
    this.svg.style.aspectRatio = `${width} / ${this.height}`;
    for (const panel of this.panels) {
      const box = { x: LEFT, y: panel.top - 1, width: Math.max(1, width - LEFT - RIGHT), height: panel.height + 2 };
      for (const [key, value] of Object.entries(box)) panel.box.setAttribute(key, value);
      panel.name.setAttribute("x", LEFT);
      panel.name.setAttribute("y", panel.top - 6);
    }
    this.note ??= this.svg.appendChild(make("text", { class: "axis-name", "text-anchor": "end" }));
    this.note.textContent = withUnit(this.spec.x.label, this.spec.x.unit && `(${this.spec.x.unit})`);
    this.note.setAttribute("x", width - RIGHT);
    this.note.setAttribute("y", last.bottom + AXIS + 15);
    this.draw();
  }

  x(value) {
    const [low, high] = this.clock.view;
    return LEFT + ((value - low) / (high - low)) * (this.width - LEFT - RIGHT);
  }

  at(pixel) {
    const [low, high] = this.clock.view;
    const share = (pixel - LEFT) / (this.width - LEFT - RIGHT);
    return low + Math.min(Math.max(share, 0), 1) * (high - low);
  }

  index(value) {
    const { start, step, n } = this.spec.x;
    return Math.min(Math.max(Math.round((value - start) / step), 0), n - 1);
  }

  refresh() {
    const [low, high] = this.clock.view;
    if (low !== this.drawn[0] || high !== this.drawn[1]) this.draw();
    else this.point();
  }

  draw() {
    const { start, step, n } = this.spec.x;
    const [low, high] = this.clock.view;
    this.drawn = [low, high];
    const from = Math.max(0, Math.floor((low - start) / step));
    const to = Math.min(n, Math.ceil((high - start) / step) + 1);
    const marks = ticks(low, high, (this.width - LEFT - RIGHT) / 76);
    for (const panel of this.panels) {
      this.scale(panel, from, to);
      this.drawGrid(panel, marks);
      this.drawMarks(panel, from, to);
    }
    this.back.disabled = !this.clock.isZoomed;
    this.svg.dataset.view = `${low} ${high}`;
    this.point();
  }

  scale(panel, from, to) {
    const shown = panel.marks.filter((mark) => !this.hidden.has(mark.label));
    let [low, high] = [Infinity, -Infinity];
    for (const mark of shown.filter((each) => !each.lower)) {
      const [a, b] = mark.kind === "level" ? [-mark.value, mark.value] : extremes(mark.y, from, to);
      [low, high] = [Math.min(low, a), Math.max(high, b)];
    }
    // wide bounds must not squeeze what they are bounds of: they get as much room as it has, on each side
    const [bottom, top] = low > high ? [-Infinity, Infinity] : [2 * low - high, 2 * high - low];
    for (const mark of shown.filter((each) => each.lower)) {
      const [least, most] = [extremes(mark.lower, from, to)[0], extremes(mark.upper, from, to)[1]];
      [low, high] = [Math.min(low, Math.max(least, bottom)), Math.max(high, Math.min(most, top))];
    }
    if (low > high) [low, high] = [-1, 1];
    if (panel.symmetric) [low, high] = [-Math.max(-low, high), Math.max(-low, high)];
    const margin = 0.06 * (high - low) || Math.abs(high) * 0.1 || 1;
    panel.range = [low - margin, high + margin];
    panel.y = (value) =>
      panel.bottom - ((value - panel.range[0]) / (panel.range[1] - panel.range[0])) * panel.height;
  }

  drawGrid(panel, { step, values }) {
    const right = this.width - RIGHT;
    const children = [];
    const line = (d, kind = "") => children.push(make("path", { d, class: kind }));
    const word = (x, y, anchor, content) => children.push(make("text", { x, y, "text-anchor": anchor }, [content]));
    for (const value of values) {
      const x = tenth(this.x(value));
      line(`M${x} ${panel.top}V${panel.bottom}`);
      if (panel.axis) word(Math.min(x, right - 8), panel.bottom + 14, "middle", tickText(value, step));
    }
    const levels = ticks(...panel.range, panel.height / 34);
    for (const value of levels.values) {
      const y = tenth(panel.y(value));
      line(`M${LEFT} ${y}H${right}`, value === 0 ? "zero" : "");
      word(LEFT - 6, y + 3.5, "end", tickText(value, levels.step));
    }
    panel.grid.replaceChildren(...children);
  }

  drawMarks(panel, from, to) {
    const { start, step } = this.spec.x;
    const columns = Math.max(50, Math.round(this.width - LEFT - RIGHT));
    const x = (i) => this.x(start + step * i);
    for (const [k, mark] of panel.marks.entries()) {
      panel.paths[k].setAttribute("visibility", this.hidden.has(mark.label) ? "hidden" : "visible");
      if (this.hidden.has(mark.label)) continue;
      panel.paths[k].setAttribute("d", this.outline(panel, mark, { from, to, columns, x }));
    }
    const [low, high] = this.clock.view;
    const seen = (panel.spans ?? []).filter(([a, b]) => b >= low && a <= high);
    const boxes = seen.map(([a, b]) => {
      const left = tenth(this.x(a));
      return `M${left} ${panel.top}h${Math.max(0.8, tenth(this.x(b) - left))}v${panel.height}H${left}Z`;
    });
    panel.spanPath.setAttribute("d", boxes.join(""));
  }

  outline(panel, mark, { from, to, columns, x }) {
    if (mark.kind === "line") return linePath(thinned(mark.y, from, to, columns), x, (i) => panel.y(mark.y[i]));
    if (mark.kind === "band") return bandPath(mark.lower, mark.upper, from, to, columns, x, panel.y);
    if (mark.kind === "bars") return barPath(mark.lower, mark.upper, from, to, x, panel.y);
    const levels = mark.value === 0 ? [0] : [-mark.value, mark.value];
    return levels.map((value) => `M${LEFT} ${tenth(panel.y(value))}H${this.width - RIGHT}`).join("");
  }

  /** Put the cross-hair where the clock's cursor is. */
  point() {
    const at = this.clock.cursor;
    const shown = at !== null && at >= this.clock.view[0] && at <= this.clock.view[1];
    const i = this.index(at ?? 0);
    const place = this.spec.x.start + this.spec.x.step * i;
    const x = tenth(this.x(place));
    this.cross.setAttribute("d", shown ? this.panels.map((p) => `M${x} ${p.top}V${p.bottom}`).join("") : "");
    for (const panel of this.panels) {
      for (const [k, mark] of panel.marks.entries()) {
        const visible = shown && mark.kind === "line" && !this.hidden.has(mark.label) && !Number.isNaN(mark.y[i]);
        panel.dots[k].setAttribute("visibility", visible ? "visible" : "hidden");
        if (!visible) continue;
        panel.dots[k].setAttribute("cx", x);
        panel.dots[k].setAttribute("cy", tenth(panel.y(mark.y[i])));
      }
    }
    if (!shown || !this.hovered) this.tip.hide();
    else this.explain(this.hovered, i, x);
  }

  explain(panel, i, x) {
    const { label, unit, start, step } = this.spec.x;
    const value = (v) => withUnit(significant(v, 5), panel.unit);
    const level = (mark) => (mark.printed ? withUnit(mark.printed, panel.unit) : value(mark.value));
    const rows = panel.marks
      .filter((mark) => !this.hidden.has(mark.label))
      .map((mark) => {
        if (mark.lower) {
          const [from, to] = outward(mark.lower[i], mark.upper[i]);
          return [mark.color, mark.label, `${from} \u2026 ${withUnit(to, panel.unit)}`];
        }
        return [mark.color, mark.label, mark.kind === "level" ? `\u00b1${level(mark)}` : value(mark.y[i])];
      });
    const at = start + step * i;
    if ((panel.spans ?? []).some(([a, b]) => at >= a && at <= b)) rows.push([null, this.spec.spans, ""]);
    const scale = this.svg.clientWidth / this.width;
    const title = `${panel.title} \u00b7 ${withUnit(significant(at, 5), unit) || label}`;
    const y = this.width < 600 ? panel.bottom : panel.top; // on a narrow screen it would hide what it explains
    this.tip.show(this.svg, x * scale, y * scale, title, rows);
  }

  listen() {
    let press = null;
    const panelAt = (y) => this.panels.find((panel) => y <= panel.bottom + 10) ?? this.panels.at(-1);
    followPointers(this.svg, {
      begin: ([x, y], event) => {
        const touch = event.pointerType !== "mouse";
        press = { x, pan: event.shiftKey || (touch && this.clock.isZoomed), select: !touch && !event.shiftKey };
        this.hovered = panelAt(y);
        this.clock.point(this.at(x));
      },
      drag: ([x, y], event, pressed) => {
        if (pressed && press?.pan) {
          this.clock.pan(this.at(press.x) - this.at(x));
          press.x = x;
        }
        if (pressed && press?.select) this.select(press.x, x);
        this.hovered = panelAt(y);
        this.clock.point(this.at(x));
      },
      end: (place) => {
        this.selection.setAttribute("visibility", "hidden");
        if (place && press?.select && Math.abs(place[0] - press.x) > 6) {
          const [low, high] = [this.at(press.x), this.at(place[0])].sort((a, b) => a - b);
          this.clock.show(low, high);
        }
        press = null;
      },
      pinch: (before, after) => {
        const anchor = this.at(before.x);
        this.clock.zoom(anchor, before.distance / after.distance);
        this.clock.pan(anchor - this.at(after.x));
      },
    });
    onLeave(this.svg, () => this.leave());
    this.svg.addEventListener("dblclick", () => this.clock.reset());
    this.svg.addEventListener("keydown", (event) => this.key(event));
    this.svg.addEventListener(
      "wheel",
      (event) => {
        if (!wheelIsOurs(event, this.svg)) return;
        event.preventDefault();
        const [x] = placeIn(this.svg, event);
        if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.clock.pan(this.at(LEFT + event.deltaX) - this.at(LEFT));
        else this.clock.zoom(this.at(x), wheelFactor(event));
      },
      { passive: false },
    );
  }

  leave() {
    this.hovered = null;
    this.clock.point(null);
  }

  select(a, b) {
    const [left, right] = [a, b].map((x) => Math.min(Math.max(x, LEFT), this.width - RIGHT)).sort((p, q) => p - q);
    const box = { x: left, y: this.panels[0].top, width: right - left, visibility: "visible" };
    box.height = this.panels.at(-1).bottom - box.y;
    for (const [key, value] of Object.entries(box)) this.selection.setAttribute(key, value);
  }

  key(event) {
    const [low, high] = this.clock.view;
    const here = this.clock.cursor ?? (low + high) / 2;
    const hop = Math.max(this.spec.x.step, ((high - low) / 500) * (event.shiftKey ? 25 : 1));
    const actions = {
      ArrowLeft: () => this.move(here - hop),
      ArrowRight: () => this.move(here + hop),
      Home: () => this.move(low),
      End: () => this.move(high),
      PageUp: () => this.clock.pan((low - high) / 2),
      PageDown: () => this.clock.pan((high - low) / 2),
      "+": () => this.clock.zoom(here, 0.7),
      "=": () => this.clock.zoom(here, 0.7),
      "-": () => this.clock.zoom(here, 1 / 0.7),
      0: () => this.clock.reset(),
      Escape: () => this.clock.reset(),
      ArrowDown: () => this.step(1),
      ArrowUp: () => this.step(-1),
    };
    const action = event.ctrlKey || event.metaKey || event.altKey ? null : actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  step(by) {
    const next = this.panels.indexOf(this.hovered) + by;
    this.hovered = this.panels[Math.min(Math.max(next, 0), this.panels.length - 1)];
    this.move(this.clock.cursor ?? (this.clock.view[0] + this.clock.view[1]) / 2);
  }

  move(at) {
    const [low, high] = this.clock.view;
    this.hovered ??= this.panels[0];
    this.clock.point(Math.min(Math.max(at, low), high));
    requestAnimationFrame(() => requestAnimationFrame(() => this.say(this.tip.text)));
  }
}
