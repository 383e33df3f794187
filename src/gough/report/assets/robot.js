// The robot along its trajectory: drag to turn, zoom, play, and the same moment as the cursor of the linked figures.

const STYLE = {
  base: { tint: "quiet", width: 4 },
  arm: { tint: 0, width: 6 },
  rod: { tint: "ink", width: 2 },
  platform: { tint: 1, width: 5 },
  other: { tint: 2, width: 2.5 },
};
const SPEEDS = [0.1, 0.25, 0.5, 1];
const CAMERA = { yaw: -0.9, pitch: 0.45, zoom: 1 };

class Robot {
  constructor(root, spec, page) {
    this.spec = spec;
    this.tracks = spec.tracks.map((track) => page.curve(track));
    this.pose = spec.pose.map((coordinate) => ({ ...coordinate, values: page.curve(coordinate.values) }));
    this.last = spec.x.start + spec.x.step * (spec.x.n - 1);
    this.clock = page.clock(spec.clock, spec.x);
    this.camera = { ...CAMERA };
    this.time = spec.x.start;
    this.speed = 1;
    this.running = null;
    this.bounds();
    this.build(root);
    onWidth(root, (width) => this.resize(width));
    this.clock.watchers.add(() => {
      if (this.running === null && this.clock.cursor !== null) this.show(this.clock.cursor);
    });
    this.listen();
  }

  /** Middle and size of all that is ever drawn, and the frame that it fills as the camera first sees it. */
  bounds() {
    const ends = [0, 1, 2].map((axis) => {
      const of = this.tracks.filter((_, k) => k % 3 === axis).map((track) => extremes(track, 0, track.length));
      return [Math.min(...of.map((e) => e[0])), Math.max(...of.map((e) => e[1]))];
    });
    this.middle = ends.map(([low, high]) => (low + high) / 2);
    this.size = Math.hypot(...ends.map(([low, high]) => high - low)) / 2 || 1;
    const [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
    const box = { left, right, low, high };
    for (let end = 0; end < 2 * this.spec.kinds.length; end += 1) {
      for (let i = 0; i < this.spec.x.n; i += 1) {
        const [across, up] = this.look([0, 1, 2].map((axis) => this.tracks[3 * end + axis][i]));
        box.left = Math.min(box.left, across);
        box.right = Math.max(box.right, across);
        box.low = Math.min(box.low, up);
        box.high = Math.max(box.high, up);
      }
    }
    this.box = box;
  }

  build(root) {
    this.root = root;
    this.svg = make("svg", {
      class: "robot",
      tabindex: "0",
      role: "application",
      "aria-roledescription": "interactive figure",
      "aria-label": `${this.spec.description} Arrow keys turn it, plus and minus zoom, space plays, 0 resets.`,
    });
    this.frame = make("g", { class: "frame" });
    this.trace = make("path", { class: "trace" });
    this.recent = make("path", { class: "recent" });
    this.lines = this.spec.kinds.map(() => [make("line", { class: "halo" }), make("line", { class: "limb" })]);
    this.svg.append(this.frame, this.trace, this.recent, ...this.lines.flat());
    this.button = html("button", { type: "button" }, ["Play"]);
    this.button.addEventListener("click", () => this.toggle());
    const { start, step } = this.spec.x;
    const range = { type: "range", min: start, max: this.last, step: step / 4, value: start, "aria-label": "Time" };
    this.slider = html("input", range);
    this.slider.addEventListener("input", () => {
      this.show(Number(this.slider.value));
      this.clock.point(this.time);
    });
    const options = SPEEDS.map((speed) => html("option", { value: speed }, [`${speed}\u00d7`]));
    this.select = html("select", { "aria-label": "Speed" }, options);
    this.select.value = "1";
    this.select.addEventListener("change", () => {
      this.speed = Number(this.select.value);
    });
    this.readout = html("output", {}, []);
    const controls = html("div", { class: "controls" }, [this.button, this.slider, this.select]);
    takeOver(root, this.svg, controls, this.readout);
  }

  resize(width) {
    this.width = width;
    this.height = Math.round(Math.min(460, Math.max(280, width * 0.7)));
    this.svg.setAttribute("viewBox", `0 0 ${width} ${this.height}`);
    this.svg.style.aspectRatio = `${width} / ${this.height}`;
    this.draw();
  }

  /** A point as the camera sees it: across and up in meters at the middle's distance, and how near. */
  look(point) {
    const [x, y, z] = point.map((value, axis) => value - this.middle[axis]);
    const { yaw, pitch } = this.camera;
    const across = Math.cos(yaw) * x - Math.sin(yaw) * y;
    const away = Math.sin(yaw) * x + Math.cos(yaw) * y;
    const up = Math.cos(pitch) * z + Math.sin(pitch) * away;
    const near = Math.sin(pitch) * z - Math.cos(pitch) * away;
    const larger = (5 * this.size) / (5 * this.size - near);
    return [across * larger, up * larger, near];
  }

  /** A point in meters on the screen. */
  project(point) {
    const [across, up, near] = this.look(point);
    const { left, right, low, high } = this.box;
    const room = Math.min(this.width / (2 * Math.max(-left, right) || 1), this.height / (high - low || 1));
    const scale = 0.86 * this.camera.zoom * room;
    return [this.width / 2 + scale * across, this.height / 2 - scale * (up - (low + high) / 2), near];
  }

  /** One end of a segment, between the two nearest frames. */
  end(segment, side) {
    const { start, step, n } = this.spec.x;
    const place = Math.min(Math.max((this.time - start) / step, 0), n - 1);
    const before = Math.min(Math.floor(place), Math.max(n - 2, 0));
    const share = place - before;
    return [0, 1, 2].map((axis) => {
      const track = this.tracks[(2 * segment + side) * 3 + axis];
      return share > 0 ? track[before] * (1 - share) + track[before + 1] * share : track[before];
    });
  }

  /** The middle of the platform in every frame. */
  centers() {
    if (this.paths) return this.paths;
    const own = this.spec.kinds.flatMap((kind, s) => (kind === "platform" ? [2 * s, 2 * s + 1] : []));
    const mean = (axis, i) => own.reduce((sum, e) => sum + this.tracks[3 * e + axis][i], 0) / own.length;
    this.paths = own.length === 0 ? [] : Array.from({ length: this.spec.x.n }, (_, i) => [0, 1, 2].map((a) => mean(a, i)));
    return this.paths;
  }

  draw() {
    const segments = this.spec.kinds.map((kind, s) => {
      const [a, b] = [this.project(this.end(s, 0)), this.project(this.end(s, 1))];
      return { kind, a, b, near: (a[2] + b[2]) / 2 };
    });
    segments.sort((p, q) => p.near - q.near);
    segments.forEach(({ kind, a, b }, k) => {
      const { tint, width } = STYLE[kind] ?? STYLE.rod;
      const ends = { x1: tenth(a[0]), y1: tenth(a[1]), x2: tenth(b[0]), y2: tenth(b[1]) };
      this.lines[k].forEach((line, layer) => {
        for (const [key, value] of Object.entries(ends)) line.setAttribute(key, value);
        line.style.strokeWidth = layer === 0 ? width + 3 : width;
        if (layer === 1) line.style.stroke = color(tint);
      });
    });
    this.drawTrace();
    this.drawFrame();
    this.tell();
  }

  drawTrace() {
    const { start, step } = this.spec.x;
    const points = this.spec.x.counted === "s" ? this.centers().map((center) => this.project(center)) : [];
    const through = (list) => (list.length > 1 ? `M${list.map(([x, y]) => `${tenth(x)} ${tenth(y)}`).join("L")}` : "");
    this.trace.setAttribute("d", through(points));
    const now = Math.floor((this.time - start) / step) + 1;
    this.recent.setAttribute("d", through(points.slice(Math.max(0, now - Math.ceil(0.5 / step)), now)));
  }

  drawFrame() {
    const origin = this.project([0, 0, 0]);
    const parts = ["x", "y", "z"].flatMap((name, axis) => {
      const tip = this.project([0, 1, 2].map((k) => (k === axis ? 0.16 * this.size : 0)));
      const d = `M${tenth(origin[0])} ${tenth(origin[1])}L${tenth(tip[0])} ${tenth(tip[1])}`;
      return [make("path", { d }), make("text", { x: tenth(tip[0]), y: tenth(tip[1]) }, [name])];
    });
    this.frame.replaceChildren(...parts);
  }

  tell() {
    const { start, step, n } = this.spec.x;
    const i = Math.min(Math.max(Math.round((this.time - start) / step), 0), n - 1);
    const pose = this.pose.map(({ name, unit, values }) => `${name} ${withUnit(withMinus(values[i].toFixed(4)), unit)}`);
    const seconds = this.spec.x.counted === "s";
    const now = seconds ? withUnit(this.time.toFixed(2), "s") : `${this.spec.x.counted} ${i}`;
    this.readout.textContent = [now, ...pose].join(" \u00b7 ");
    this.slider.value = this.time;
    this.slider.setAttribute("aria-valuetext", seconds ? `${this.time.toFixed(2)} seconds` : now);
    this.svg.dataset.time = this.time;
  }

  show(time) {
    this.time = Math.min(Math.max(time, this.spec.x.start), this.last);
    this.draw();
  }

  toggle() {
    if (this.running !== null) this.stop();
    else {
      // who asked for less motion gets four still pictures a second
      const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
      if (this.time >= this.last) this.time = this.spec.x.start;
      let before = performance.now();
      const tick = () => {
        const now = performance.now();
        if (!still || now - before >= 250) {
          this.show(this.time + (this.speed * (now - before)) / 1000);
          this.clock.point(this.time);
          before = now;
        }
        if (this.time >= this.last) this.stop();
        else this.running = requestAnimationFrame(tick);
      };
      this.running = requestAnimationFrame(tick);
      this.button.textContent = "Pause";
    }
  }

  stop() {
    cancelAnimationFrame(this.running);
    this.running = null;
    this.button.textContent = "Play";
  }

  turn(dx, dy) {
    this.camera.yaw += dx;
    this.camera.pitch = Math.min(Math.max(this.camera.pitch + dy, -1.5), 1.5);
    this.draw();
  }

  zoom(factor) {
    this.camera.zoom = Math.min(Math.max(this.camera.zoom * factor, 0.3), 12);
    this.draw();
  }

  reset() {
    this.camera = { ...CAMERA };
    this.draw();
  }

  listen() {
    let from = null;
    followPointers(this.svg, {
      begin: (place) => {
        from = place;
      },
      drag: ([x, y], event, pressed) => {
        if (!pressed || !from) return;
        this.turn((x - from[0]) * 0.01, (y - from[1]) * 0.01);
        from = [x, y];
      },
      end: () => {
        from = null;
      },
      pinch: (before, after) => {
        this.turn((after.x - before.x) * 0.01, (after.y - before.y) * 0.01);
        this.zoom(after.distance / before.distance);
      },
    });
    this.svg.addEventListener("dblclick", () => this.reset());
    this.svg.addEventListener("keydown", (event) => {
      const action = {
        ArrowLeft: () => this.turn(-0.1, 0),
        ArrowRight: () => this.turn(0.1, 0),
        ArrowUp: () => this.turn(0, -0.1),
        ArrowDown: () => this.turn(0, 0.1),
        "+": () => this.zoom(1.2),
        "=": () => this.zoom(1.2),
        "-": () => this.zoom(1 / 1.2),
        " ": () => this.toggle(),
        0: () => this.reset(),
      }[event.key];
      if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      action();
    });
    const turn = (event) => {
      if (!wheelIsOurs(event, this.svg)) return;
      event.preventDefault();
      this.zoom(1 / wheelFactor(event));
    };
    this.svg.addEventListener("wheel", turn, { passive: false });
  }
}
