// Bring a figure to life when it comes near the window, or before printing; one that fails keeps the drawing it had.

const KINDS = { lines: Lines, intervals: Intervals, matrix: Matrix, plane: Plane, robot: Robot };
/** Figures are drawn from one height of the window above it to one below. */
const NEAR = "100% 0px";

async function start() {
  const waiting = new Map(Object.entries(JSON.parse(document.getElementById("figures").textContent)));
  const codes = await unpack(JSON.parse(document.getElementById("curves").textContent));
  const clocks = new Map();
  for (const { clock, x } of waiting.values()) {
    if (!clock) continue;
    if (clocks.has(clock)) clocks.get(clock).widen(stretch(x));
    else clocks.set(clock, new Clock(stretch(x)));
  }
  const page = {
    curve: (reference) => decode(codes, reference),
    clock: (name, x) => clocks.get(name) ?? new Clock(stretch(x)),
  };
  const told = document.documentElement.dataset;
  told.live = 0;

  const draw = (id) => {
    const spec = waiting.get(id);
    if (!waiting.delete(id)) return;
    const root = document.querySelector(`#${CSS.escape(id)} .plot`);
    const before = [...root.childNodes];
    try {
      new KINDS[spec.kind](root, spec, page);
      told.live = Number(told.live) + 1;
    } catch (error) {
      root.replaceChildren(...before);
      root.classList.remove("live");
      console.error(`figure ${id}:`, error);
    }
  };
  const near = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        near.unobserve(target);
        draw(target.id);
      }
    },
    { rootMargin: NEAR },
  );
  for (const id of waiting.keys()) near.observe(document.getElementById(id));
  addEventListener("beforeprint", () => [...waiting.keys()].forEach(draw));
}

// an old browser that cannot unpack the curves keeps every drawing
start().catch((error) => console.warn("figures stay as drawn:", error));
