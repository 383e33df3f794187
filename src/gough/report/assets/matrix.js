// Correlations: a square for each pair, its area the size, its color the sign; the pair under the pointer in words.

class Matrix {
  constructor(root, spec) {
    this.spec = spec;
    this.root = root;
    this.svg = make("svg", {
      class: "matrix",
      tabindex: "0",
      role: "application",
      "aria-roledescription": "interactive figure",
      "aria-label": `${spec.description} Arrow keys move from pair to pair.`,
    });
    const legend = ["rise together", "one rises as the other falls"].map((words, k) => {
      const swatch = html("i", { class: "band" });
      swatch.style.background = color(k);
      return html("span", {}, [swatch, words]);
    });
    takeOver(root, html("div", { class: "toolbar" }, legend), this.svg);
    this.tip = new Tip(root);
    this.say = announcer(root);
    this.at = [1, 0];
    onWidth(root, (width) => this.draw(width));
    this.listen();
  }

  draw(width) {
    const { labels, values } = this.spec;
    const n = labels.length;
    this.left = Math.min(Math.max(...labels.map((label) => widthOf(label, this.svg))) + 8, width * 0.35);
    this.side = Math.min(34, (width - this.left - 4) / n);
    const total = this.side * n;
    this.mark = make("rect", { class: "chosen", width: this.side, height: this.side, visibility: "hidden" });
    const parts = [this.mark];
    labels.forEach((label, i) => {
      const short = shortenedTo(label, this.left - 6, this.svg);
      const middle = this.side * (i + 0.5);
      parts.push(make("text", { x: this.left - 6, y: middle + 4, "text-anchor": "end" }, [short]));
      const turned = `translate(${tenth(this.left + middle + 4)} ${tenth(total + 6)}) rotate(-90)`;
      parts.push(make("text", { transform: turned, "text-anchor": "end" }, [short]));
      for (let j = 0; j <= i; j += 1) parts.push(this.square(i, j, values[i][j]));
    });
    this.svg.replaceChildren(...parts);
    const height = total + this.left + 4;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${tenth(height)}`);
    this.svg.style.aspectRatio = `${width} / ${tenth(height)}`;
  }

  square(i, j, value) {
    const side = this.side * 0.94 * Math.sqrt(Math.abs(value));
    const [x, y] = [this.left + this.side * (j + 0.5) - side / 2, this.side * (i + 0.5) - side / 2];
    const square = make("rect", { x: tenth(x), y: tenth(y), width: tenth(side), height: tenth(side) });
    square.style.fill = i === j ? "var(--faint)" : color(value > 0 ? 0 : 1);
    return square;
  }

  choose(i, j) {
    const n = this.spec.labels.length;
    const inside = i >= 0 && i < n && j >= 0 && j <= i;
    this.mark.setAttribute("visibility", inside ? "visible" : "hidden");
    if (!inside) {
      this.tip.hide();
      return;
    }
    this.at = [i, j];
    const [x, y] = [this.left + this.side * j, this.side * i];
    this.mark.setAttribute("x", tenth(x));
    this.mark.setAttribute("y", tenth(y));
    const { labels, values } = this.spec;
    const title = i === j ? labels[i] : `${labels[i]} with ${labels[j]}`;
    const tint = values[i][j] > 0 ? 0 : 1;
    const rows = [[i === j ? "faint" : tint, "correlation", withMinus(values[i][j].toFixed(3))]];
    this.tip.show(this.svg, x + this.side / 2, y + this.side / 2, title, rows);
  }

  listen() {
    const point = (event) => {
      const [x, y] = placeIn(this.svg, event);
      this.choose(Math.floor(y / this.side), Math.floor((x - this.left) / this.side));
    };
    this.svg.addEventListener("pointermove", point);
    this.svg.addEventListener("pointerdown", point);
    onLeave(this.svg, () => this.choose(-1, -1));
    this.svg.addEventListener("keydown", (event) => {
      const hop = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key];
      if (!hop) return;
      event.preventDefault();
      const n = this.spec.labels.length;
      const i = Math.min(Math.max(this.at[0] + hop[0], 0), n - 1);
      this.choose(i, Math.min(Math.max(this.at[1] + hop[1], 0), i));
      this.say(this.tip.text);
    });
  }
}
