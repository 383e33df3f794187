// Numbers as people read them, and the round values that axes are marked with.

const withMinus = (text) => text.replace("-", "\u2212");

/** A value with so many significant digits; what is no number becomes a dash. */
function significant(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "\u2014";
  if (!Number.isFinite(value)) return value > 0 ? "\u221e" : "\u2212\u221e";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 1e-4 || size >= 1e6) return withMinus(value.toExponential(digits - 1));
  return withMinus(value.toFixed(Math.max(0, digits - 1 - Math.floor(Math.log10(size)))));
}

/**
 * Both ends of an interval, rounded away from each other; the last digit is at most a hundredth of the width.
 * A text that reads back as a smaller double is less than the value, one that reads back as the same one may not be.
 */
function outward(lower, upper) {
  if (!(lower <= upper && Number.isFinite(lower) && Number.isFinite(upper))) {
    return [significant(lower, 5), significant(upper, 5)];
  }
  const smallest = 1e-290; // below it, a unit of the last digit is no double
  if (Math.max(Math.abs(lower), Math.abs(upper)) < smallest) {
    return [lower < 0 ? withMinus(String(-smallest)) : "0", upper > 0 ? String(smallest) : "0"];
  }
  const leading = Math.floor(Math.log10(Math.max(Math.abs(lower), Math.abs(upper)) || 1));
  const wanted = upper > lower ? Math.floor(Math.log10((upper - lower) / 100)) : -Infinity;
  const power = Math.min(Math.max(wanted, leading - 13), leading);
  const plain = leading >= -4 && leading < 6;
  const text = (value) => {
    if (plain) return value.toFixed(Math.max(0, -power));
    const own = value === 0 ? leading : Math.floor(Math.log10(Math.abs(value)));
    return value.toExponential(Math.max(0, own - power));
  };
  const unit = plain ? 10 ** Math.min(power, 0) : 10 ** power;
  const rounded = (value, sign, written, step) => {
    let near = value;
    for (let k = 0; k < 4; k += 1, near += sign * step) {
      const back = Number(written(near));
      if (sign * back > sign * value || (back === value && Number.isSafeInteger(value * 1024))) break;
    }
    return written(near);
  };
  return [-1, 1].map((sign) => {
    const value = sign < 0 ? lower : upper;
    const near = rounded(value, sign, text, unit);
    // an end near 0 keeps its sign, in two digits of its own: else the set would seem to contain 0
    const isLost = sign * value < 0 && sign * Number(near) >= 0;
    const digit = isLost ? 10 ** (Math.floor(Math.log10(Math.abs(value))) - 1) : 0;
    return withMinus(isLost ? rounded(value, sign, (each) => each.toExponential(1), digit) : near);
  });
}

const withUnit = (text, unit) => (unit ? `${text}\u00a0${unit}` : text);

/** About `wanted` round values between two others, and the step from one to the next. */
function ticks(low, high, wanted) {
  const raw = (high - low) / Math.max(1, wanted);
  if (!(raw > 0) || !Number.isFinite(raw)) return { step: 1, values: [] };
  const power = 10 ** Math.floor(Math.log10(raw));
  const factors = [0.5, 1, 2, 5, 10];
  const inside = (step) => {
    const values = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) values.push(k * step);
    return values;
  };
  const chosen = factors.findIndex((factor) => factor >= 1 && factor * power >= raw * 0.999);
  const step = factors[chosen] * power;
  // one number shows no scale: the coarsest step that shows more of them, where there is room
  const hasRoom = (finer) => inside(finer).length > 1 && inside(finer).length <= Math.max(3, 1.6 * wanted);
  const better = inside(step).length < 2 && [step / 2, factors[chosen - 1] * power].find(hasRoom);
  return better ? { step: better, values: inside(better) } : { step, values: inside(step) };
}

/** The text of one mark on an axis with this step. */
function tickText(value, step) {
  if (Math.abs(value) < step * 1e-6) return "0";
  const power = Math.floor(Math.log10(step) + 1e-9);
  const isHalf = Math.abs(step / 10 ** power - 2.5) < 1e-6 ? 1 : 0; // 2.5 has a digit more than 2
  const decimals = Math.max(0, isHalf - power);
  if (decimals <= 4 && Math.abs(value) < 1e5) return withMinus(value.toFixed(decimals));
  const digits = Math.floor(Math.log10(Math.abs(value))) - power + isHalf;
  return withMinus(value.toExponential(Math.min(Math.max(digits, 0), 6)));
}
