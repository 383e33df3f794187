// Curves: unpacked from the page, found by abscissa, and thinned for the screen so that no spike is lost.

const MISSING = 0xffff;

/** The codes of all curves of a page: 16-bit differences, low bytes first, deflated, as base64. */
async function unpack(text) {
  const letters = atob(text);
  if (letters.length === 0) return new Uint16Array(0);
  const packed = new Uint8Array(letters.length);
  for (let i = 0; i < packed.length; i += 1) packed[i] = letters.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const count = bytes.length / 2;
  const codes = new Uint16Array(count);
  for (let i = 0; i < count; i += 1) codes[i] = bytes[i] | (bytes[count + i] << 8);
  return codes;
}

/** The values of one curve: its differences summed up so many times, scaled; NaN where there is none. */
function decode(codes, { at, n, low, step, order }) {
  const sums = new Uint16Array(n);
  for (let k = 0; k < n; k += 1) sums[k] = (codes[at + k] >>> 1) ^ -(codes[at + k] & 1);
  for (let round = 0; round < order; round += 1) {
    for (let k = 1; k < n; k += 1) sums[k] += sums[k - 1];
  }
  return Float64Array.from(sums, (code) => (code === MISSING ? NaN : low + step * code));
}

/** Least and greatest of some of the values of a curve; [Infinity, -Infinity] where there is none. */
function extremes(values, from, to) {
  let low = Infinity;
  let high = -Infinity;
  for (let i = from; i < to; i += 1) {
    if (values[i] < low) low = values[i];
    if (values[i] > high) high = values[i];
  }
  return [low, high];
}

/** Indices to draw: all of them, or of each column of pixels the least and the greatest in their order. */
function thinned(values, from, to, columns) {
  const kept = [];
  if (to - from <= 2 * columns) {
    for (let i = from; i < to; i += 1) kept.push(i);
    return kept;
  }
  const width = (to - from) / columns;
  for (let c = 0; c < columns; c += 1) {
    const end = c === columns - 1 ? to : from + Math.floor((c + 1) * width);
    let low = -1;
    let high = -1;
    let gap = -1;
    for (let i = from + Math.floor(c * width); i < end; i += 1) {
      if (Number.isNaN(values[i])) gap = i;
      else {
        if (low < 0 || values[i] < values[low]) low = i;
        if (high < 0 || values[i] > values[high]) high = i;
      }
    }
    if (low < 0) kept.push(gap);
    else kept.push(...(low === high ? [low] : [Math.min(low, high), Math.max(low, high)]));
  }
  return kept;
}

const tenth = (value) => Math.round(value * 10) / 10;

/** The `d` of a path through the chosen points; NaN leaves a gap. */
function linePath(chosen, x, y) {
  let path = "";
  let pen = "M";
  for (const i of chosen) {
    const height = y(i);
    if (Number.isNaN(height)) pen = "M";
    else {
      path += `${pen}${tenth(x(i))} ${tenth(height)}`;
      pen = "L";
    }
  }
  return path;
}

/** The `d` of the area between two curves: a polygon for each run without a gap. */
function bandPath(lower, upper, from, to, columns, x, y) {
  const width = Math.max(1, (to - from) / columns);
  let path = "";
  let run = [];
  const close = () => {
    if (run.length > 1) {
      const there = run.map(([at, , high]) => `${tenth(at)} ${tenth(high)}`);
      const back = run.reverse().map(([at, low]) => `${tenth(at)} ${tenth(low)}`);
      path += `M${there.join("L")}L${back.join("L")}Z`;
    }
    run = [];
  };
  for (let start = from; start < to; start += width) {
    const [a, b] = [Math.floor(start), Math.min(to, Math.max(Math.floor(start) + 1, Math.floor(start + width)))];
    const low = extremes(lower, a, b)[0];
    const high = extremes(upper, a, b)[1];
    if (low > high || !Number.isFinite(low + high)) close();
    else run.push([x((a + b - 1) / 2), y(low), y(high)]);
  }
  close();
  return path;
}

/** The `d` of an upright bar with caps wherever both curves have a value. */
function barPath(lower, upper, from, to, x, y) {
  let path = "";
  for (let i = from; i < to; i += 1) {
    if (!Number.isFinite(lower[i] + upper[i])) continue;
    const [at, a, b] = [x(i), y(lower[i]), y(upper[i])].map(tenth);
    path += `M${at} ${a}V${b}M${at - 2.5} ${a}h5M${at - 2.5} ${b}h5`;
  }
  return path;
}
