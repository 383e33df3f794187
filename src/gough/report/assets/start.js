// Bring every figure of the page to life; one that fails keeps the drawing it had.

const KINDS = { lines: Lines, intervals: Intervals, matrix: Matrix, plane: Plane, robot: Robot };

async function start() {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const codes = await unpack(JSON.parse(document.getElementById("curves").textContent));
  const clocks = new Map();
  const page = {
    curve: (reference) => decode(codes, reference),
    clock(name, full) {
      if (name === "") return new Clock(full);
      if (clocks.has(name)) clocks.get(name).widen(full);
      else clocks.set(name, new Clock(full));
      return clocks.get(name);
    },
  };
  let live = 0;
  for (const [id, spec] of Object.entries(figures)) {
    const root = document.querySelector(`#${CSS.escape(id)} .plot`);
    const before = [...root.childNodes];
    try {
      new KINDS[spec.kind](root, spec, page);
      live += 1;
    } catch (error) {
      root.replaceChildren(...before);
      root.classList.remove("live");
      console.error(`figure ${id}:`, error);
    }
  }
  document.documentElement.dataset.live = live;
}

// an old browser that cannot unpack the curves keeps every drawing
start().catch((error) => console.warn("figures stay as drawn:", error));
