// Intervals of every unknown by every method: a panel per unknown in its own unit, a row per method.

const ROW = 18;
const HEAD = 22;
const FOOT = 26;

const asNumber = (value) => (value === null ? NaN : Number(value));

class Intervals {
  constructor(root, spec) {
    this.methods = spec.methods;
    this.wide = spec.wide;
    this.items = spec.items.map((item) => ({
      ...item,
      truth: asNumber(item.truth),
      nominal: asNumber(item.nominal),
      rows: item.rows.map(({ printed, ...row }) => ({
        ...Object.fromEntries(Object.entries(row).map(([k, v]) => [k, asNumber(v)])),
        printed,
      })),
    }));
    this.hidden = new Set();
    this.chosen = null;
    this.root = root;
    this.svg = make("svg", {
      class: "intervals",
      tabindex: "0",
      role: "application",
      "aria-roledescription": "interactive figure",
      "aria-label": `${spec.description} Arrow keys move from interval to interval.`,
    });
    takeOver(root, this.toolbar(), this.svg);
    this.tip = new Tip(root);
    this.say = announcer(root);
    onWidth(root, (width) => this.draw(width));
    this.listen();
  }

  get shown() {
    return [...this.methods.keys()].filter((k) => !this.hidden.has(k));
  }

  toolbar() {
    const buttons = this.methods.map((method, k) => {
      const swatch = html("i", { class: "line" });
      swatch.style.background = color(method.color);
      const button = html("button", { type: "button", "aria-pressed": "true" }, [swatch, method.label]);
      button.addEventListener("click", () => {
        if (this.hidden.has(k)) this.hidden.delete(k);
        else if (this.shown.length > 1) this.hidden.add(k);
        button.setAttribute("aria-pressed", String(!this.hidden.has(k)));
        this.choose(null);
        this.draw(this.width);
      });
      return button;
    });
    if (this.items.some((item) => !Number.isNaN(item.truth))) {
      buttons.push(html("span", {}, [html("i", { class: "truth" }), "truth"]));
    }
    const magnify = html("button", { type: "button", class: "reset", "aria-pressed": "false" }, ["Magnify the narrow ones"]);
    magnify.addEventListener("click", () => {
      this.magnified = !this.magnified;
      magnify.setAttribute("aria-pressed", String(this.magnified));
      this.draw(this.width);
    });
    return html("div", { class: "toolbar" }, [...buttons, magnify]);
  }

  draw(width) {
    this.width = width;
    const columns = Math.max(1, Math.min(this.items.length, Math.floor(width / 290)));
    const cell = (width - 18 * (columns - 1)) / columns;
    const height = HEAD + ROW * this.shown.length + FOOT;
    const longest = Math.max(...this.shown.map((k) => widthOf(this.methods[k].label, this.svg)));
    this.left = Math.min(longest + 10, cell * 0.42);
    this.cells = [];
    const panels = this.items.map((item, i) => {
      const [x, y] = [(i % columns) * (cell + 18), Math.floor(i / columns) * height];
      return make("g", { transform: `translate(${tenth(x)} ${y})` }, this.panel(item, i, cell, [x, y]));
    });
    this.mark = make("rect", { class: "chosen", visibility: "hidden", height: ROW, width: cell });
    this.svg.replaceChildren(this.mark, ...panels);
    const total = Math.ceil(this.items.length / columns) * height;
    this.columns = columns;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${total}`);
    this.svg.style.aspectRatio = `${width} / ${total}`;
  }

  /** The stretch to show: all intervals, but those that are much wider than the others are cut. */
  range(item) {
    const rows = this.shown.map((k) => item.rows[k]);
    const width = (row) => row.upper - row.lower;
    const some = (kept) => kept.map(width).filter((w) => Number.isFinite(w) && w > 0).sort((a, b) => a - b);
    const [sets, all] = [some(this.shown.filter((k) => this.methods[k].isSet).map((k) => item.rows[k])), some(rows)];
    const typical = this.magnified ? all[0] : sets[0] ?? all[Math.floor((all.length - 1) / 2)] ?? Infinity;
    const ends = rows.flatMap((row) => (width(row) <= this.wide * typical ? [row.lower, row.upper] : []));
    const wanted = [...ends, ...rows.map((row) => row.value), item.truth].filter(Number.isFinite);
    if (wanted.length === 0) return [-1, 1];
    const [low, high] = [Math.min(...wanted), Math.max(...wanted)];
    const margin = 0.08 * (high - low) || Math.abs(high) * 0.01 || 1;
    return [low - margin, high + margin];
  }

  panel(item, i, cell, [left, top]) {
    const range = this.range(item);
    const room = cell - this.left - 10;
    const x = (value) => this.left + ((value - range[0]) / (range[1] - range[0])) * room;
    const bottom = HEAD + ROW * this.shown.length;
    const parts = [make("text", { class: "title", x: 0, y: 14 }, [withUnit(item.name, item.unit && `(${item.unit})`)])];
    const marks = ticks(...range, room / 58);
    for (const value of marks.values) {
      parts.push(make("path", { class: "tick", d: `M${tenth(x(value))} ${HEAD}V${bottom}` }));
      const label = { x: tenth(Math.min(x(value), cell - 18)), y: bottom + 13, "text-anchor": "middle" };
      parts.push(make("text", label, [tickText(value, marks.step)]));
    }
    if (Number.isFinite(item.truth)) {
      parts.push(make("path", { class: "truth", d: `M${tenth(x(item.truth))} ${HEAD}V${bottom}` }));
    }
    this.shown.forEach((k, row) => {
      const middle = HEAD + ROW * (row + 0.5);
      parts.push(...this.row(item.rows[k], this.methods[k], { x, room, middle }));
      this.cells.push({ item, i, k, x: left, y: top + HEAD + ROW * row, width: cell });
    });
    return parts;
  }

  row({ value, lower, upper }, method, { x, room, middle }) {
    const [first, last] = [this.left, this.left + room];
    const label = shortenedTo(method.label, this.left - 8, this.svg);
    const parts = [make("text", { x: this.left - 8, y: middle + 4, "text-anchor": "end" }, [label])];
    const inside = (at) => Math.min(Math.max(at, first), last);
    if (upper >= lower && upper > -Infinity && lower < Infinity) {
      const [a, b] = [inside(x(lower)), inside(x(upper))].map(tenth);
      let d = `M${a} ${middle}H${b}`;
      d += x(lower) < first ? `m${first - b + 5} -4l-5 4l5 4` : `M${a} ${middle - 4}v8`;
      d += x(upper) > last ? `M${last - 5} ${middle - 4}l5 4l-5 4` : `M${b} ${middle - 4}v8`;
      const bar = make("path", { class: "bar", d });
      bar.style.stroke = color(method.color);
      parts.push(bar);
    }
    if (Number.isFinite(value)) {
      const dot = make("circle", { cx: tenth(inside(x(value))), cy: middle, r: 3.2 });
      dot.style.fill = color(method.color);
      parts.push(dot);
    } else parts.push(make("text", { x: first + room / 2, y: middle + 4, "text-anchor": "middle" }, ["no value"]));
    return parts;
  }

  choose(cell) {
    this.chosen = cell;
    if (!cell) {
      this.tip.hide();
      this.mark?.setAttribute("visibility", "hidden");
      return;
    }
    for (const key of ["x", "y", "width"]) this.mark.setAttribute(key, cell[key]);
    this.mark.setAttribute("visibility", "visible");
    const { value, lower, upper, printed } = cell.item.rows[cell.k];
    const method = this.methods[cell.k];
    const exact = (number) => (Number.isFinite(number) ? withMinus(String(number)) : significant(number));
    // Ends of guaranteed sets come as text that is rounded outward.
    const [from, to, half] = printed ?? [exact(lower), exact(upper), significant((upper - lower) / 2)];
    const rows = [
      [method.color, "value", exact(value)],
      [null, "from", from],
      [null, "to", to],
      [null, "half-width", half],
    ];
    if (!Number.isNaN(cell.item.truth)) rows.push([null, "truth", exact(cell.item.truth)]);
    if (!Number.isNaN(cell.item.nominal)) rows.push([null, "blueprint", exact(cell.item.nominal)]);
    rows.push([null, method.claim, ""]);
    const title = `${withUnit(cell.item.name, cell.item.unit && `(${cell.item.unit})`)} \u00b7 ${method.label}`;
    this.tip.show(this.svg, cell.x + cell.width / 2, cell.y + ROW, title, rows);
  }

  listen() {
    const find = (event) => {
      const [x, y] = placeIn(this.svg, event);
      return this.cells.find((c) => x >= c.x && x <= c.x + c.width && y >= c.y && y < c.y + ROW) ?? null;
    };
    this.svg.addEventListener("pointermove", (event) => this.choose(find(event)));
    this.svg.addEventListener("pointerdown", (event) => this.choose(find(event)));
    onLeave(this.svg, () => this.choose(null));
    this.svg.addEventListener("keydown", (event) => {
      const rows = this.shown.length;
      const hop = { ArrowDown: 1, ArrowUp: -1, ArrowRight: rows, ArrowLeft: -rows }[event.key];
      if (hop === undefined) return;
      event.preventDefault();
      const at = this.chosen ? this.cells.indexOf(this.chosen) + hop : 0;
      this.choose(this.cells[Math.min(Math.max(at, 0), this.cells.length - 1)]);
      this.say(this.tip.text);
    });
  }
}
