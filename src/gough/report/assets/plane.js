// Outlines and points in the plane of two unknowns: legend, zoom by drag or wheel, the nearest point in words.

const EDGE = { left: 62, right: 10, top: 10, bottom: 42 };

class Plane {
  constructor(root, spec, page) {
    this.spec = spec;
    this.shapes = spec.shapes.map((shape) => ({
      ...shape,
      xs: shape.outline ? page.curve(shape.outline[0]) : [],
      ys: shape.outline ? page.curve(shape.outline[1]) : [],
    }));
    this.hidden = new Set();
    this.view = null;
    this.root = root;
    this.svg = make("svg", {
      class: "plane",
      tabindex: "0",
      role: "application",
      "aria-roledescription": "interactive figure",
      "aria-label": `${spec.description} Plus and minus zoom, 0 resets.`,
    });
    takeOver(root, this.toolbar(), this.svg);
    this.tip = new Tip(root);
    onWidth(root, (width) => this.draw(width));
    this.listen();
  }

  get shown() {
    return this.shapes.filter((shape) => !this.hidden.has(shape));
  }

  toolbar() {
    const buttons = this.shapes.map((shape) => {
      const swatch = html("i", { class: shape.outline ? "line" : "truth" });
      swatch.style.background = color(shape.color);
      const button = html("button", { type: "button", "aria-pressed": "true" }, [swatch, shape.label]);
      button.addEventListener("click", () => {
        if (this.hidden.has(shape)) this.hidden.delete(shape);
        else if (this.shown.length > 1) this.hidden.add(shape);
        button.setAttribute("aria-pressed", String(!this.hidden.has(shape)));
        this.draw(this.width);
      });
      return button;
    });
    this.back = html("button", { type: "button", class: "reset", disabled: "" }, ["Whole view"]);
    this.back.addEventListener("click", () => this.reset());
    return html("div", { class: "toolbar" }, [...buttons, this.back]);
  }

  reset() {
    this.view = null;
    this.draw(this.width);
  }

  full() {
    const around = (key, point) => {
      const ends = this.shown.flatMap((s) => [...extremes(s[key], 0, s[key].length), s[point]]);
      const all = ends.filter(Number.isFinite);
      const [low, high] = [Math.min(...all), Math.max(...all)];
      const margin = 0.06 * (high - low) || Math.abs(high) * 0.05 || 1;
      return [low - margin, high + margin];
    };
    return [around("xs", "x"), around("ys", "y")];
  }

  draw(width) {
    this.width = width;
    this.height = Math.min(460, Math.max(280, width * 0.62));
    this.range = this.view ?? this.full();
    this.back.disabled = this.view === null;
    const [[x0, x1], [y0, y1]] = this.range;
    const [right, bottom] = [width - EDGE.right, this.height - EDGE.bottom];
    this.x = (value) => EDGE.left + ((value - x0) / (x1 - x0)) * (right - EDGE.left);
    this.y = (value) => bottom - ((value - y0) / (y1 - y0)) * (bottom - EDGE.top);
    const id = `${this.root.parentElement.id}-clip`;
    const box = { x: EDGE.left, y: EDGE.top, width: right - EDGE.left, height: bottom - EDGE.top };
    this.selection = make("rect", { class: "selection", visibility: "hidden" });
    this.svg.replaceChildren(
      make("clipPath", { id }, [make("rect", box)]),
      make("g", { class: "grid" }, this.grid(right, bottom)),
      make("g", { "clip-path": `url(#${id})` }, this.shown.flatMap((shape) => this.shape(shape))),
      this.selection,
    );
    this.svg.setAttribute("viewBox", `0 0 ${width} ${tenth(this.height)}`);
    this.svg.style.aspectRatio = `${width} / ${tenth(this.height)}`;
  }

  grid(right, bottom) {
    const parts = [];
    const across = ticks(...this.range[0], (right - EDGE.left) / 90);
    for (const value of across.values) {
      const x = tenth(this.x(value));
      parts.push(make("path", { d: `M${x} ${EDGE.top}V${bottom}` }));
      parts.push(make("text", { x, y: bottom + 15, "text-anchor": "middle" }, [tickText(value, across.step)]));
    }
    const up = ticks(...this.range[1], (bottom - EDGE.top) / 50);
    for (const value of up.values) {
      const y = tenth(this.y(value));
      parts.push(make("path", { d: `M${EDGE.left} ${y}H${right}` }));
      parts.push(make("text", { x: EDGE.left - 6, y: y + 4, "text-anchor": "end" }, [tickText(value, up.step)]));
    }
    const [xName, yName] = [this.spec.x, this.spec.y].map((axis) => withUnit(axis.label, axis.unit && `(${axis.unit})`));
    parts.push(make("text", { class: "axis-name", x: right, y: bottom + 34, "text-anchor": "end" }, [xName]));
    parts.push(make("text", { class: "axis-name inside", x: EDGE.left + 6, y: EDGE.top + 12 }, [yName]));
    return parts;
  }

  shape(shape) {
    const parts = [];
    if (shape.outline) {
      const all = [...shape.xs.keys()];
      const path = make("path", { class: "line", d: linePath(all, (i) => this.x(shape.xs[i]), (i) => this.y(shape.ys[i])) });
      path.style.stroke = color(shape.color);
      parts.push(path);
    }
    const [x, y] = [tenth(this.x(shape.x)), tenth(this.y(shape.y))];
    if (!Number.isFinite(x + y)) return parts;
    const point = shape.outline
      ? make("circle", { cx: x, cy: y, r: 3.5 })
      : make("path", { class: "line", d: `M${x - 7} ${y}h14M${x} ${y - 7}v14` });
    point.style[shape.outline ? "fill" : "stroke"] = color(shape.color);
    return [...parts, point];
  }

  zoom([px, py], factor) {
    const share = [(px - EDGE.left) / (this.width - EDGE.left - EDGE.right), 0];
    share[1] = 1 - (py - EDGE.top) / (this.height - EDGE.top - EDGE.bottom);
    this.view = this.range.map(([low, high], k) => {
      const at = low + share[k] * (high - low);
      return [at + (low - at) * factor, at + (high - at) * factor];
    });
    this.draw(this.width);
  }

  explain([px, py]) {
    const near = this.shown
      .map((shape) => ({ shape, distance: Math.hypot(this.x(shape.x) - px, this.y(shape.y) - py) }))
      .filter(({ distance }) => distance < 30)
      .sort((a, b) => a.distance - b.distance)[0];
    if (!near) {
      this.tip.hide();
      return;
    }
    const { x, y } = this.spec;
    const rows = [
      [near.shape.color, x.label, withUnit(significant(near.shape.x, 6), x.unit)],
      [null, y.label, withUnit(significant(near.shape.y, 6), y.unit)],
    ];
    this.tip.show(this.svg, this.x(near.shape.x), this.y(near.shape.y), near.shape.label, rows);
  }

  listen() {
    let press = null;
    followPointers(this.svg, {
      begin: (place, event) => {
        press = event.pointerType === "mouse" ? place : null;
      },
      drag: (place, event, pressed) => {
        if (pressed && press) this.select(press, place);
        else this.explain(place);
      },
      end: (place) => {
        if (place && press && Math.abs(place[0] - press[0]) > 6 && Math.abs(place[1] - press[1]) > 6) {
          this.look(press, place);
        }
        this.selection.setAttribute("visibility", "hidden");
        press = null;
      },
      pinch: (before, after) => this.zoom([before.x, before.y], before.distance / after.distance),
    });
    onLeave(this.svg, () => this.tip.hide());
    this.svg.addEventListener("dblclick", () => this.reset());
    this.svg.addEventListener("keydown", (event) => {
      const middle = [this.width / 2, this.height / 2];
      const action = {
        "+": () => this.zoom(middle, 0.7),
        "=": () => this.zoom(middle, 0.7),
        "-": () => this.zoom(middle, 1 / 0.7),
        0: () => this.reset(),
        Escape: () => this.reset(),
      }[event.key];
      if (action) action();
    });
    const turn = (event) => {
      if (!wheelIsOurs(event, this.svg)) return;
      event.preventDefault();
      this.zoom(placeIn(this.svg, event), wheelFactor(event));
    };
    this.svg.addEventListener("wheel", turn, { passive: false });
  }

  select(a, b) {
    const corner = [Math.min(a[0], b[0]), Math.min(a[1], b[1])];
    const box = { x: corner[0], y: corner[1], width: Math.abs(a[0] - b[0]), height: Math.abs(a[1] - b[1]) };
    for (const [key, value] of Object.entries({ ...box, visibility: "visible" })) this.selection.setAttribute(key, value);
  }

  look(a, b) {
    const value = ([px, py]) => [
      this.range[0][0] + ((px - EDGE.left) / (this.width - EDGE.left - EDGE.right)) * (this.range[0][1] - this.range[0][0]),
      this.range[1][1] - ((py - EDGE.top) / (this.height - EDGE.top - EDGE.bottom)) * (this.range[1][1] - this.range[1][0]),
    ];
    const [p, q] = [value(a), value(b)];
    this.view = [0, 1].map((k) => [Math.min(p[k], q[k]), Math.max(p[k], q[k])]);
    this.draw(this.width);
  }
}
