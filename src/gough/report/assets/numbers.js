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

const withUnit = (text, unit) => (unit ? `${text}\u00a0${unit}` : text);

/** About `wanted` round values between two others, and the step from one to the next. */
function ticks(low, high, wanted) {
  const raw = (high - low) / Math.max(1, wanted);
  if (!(raw > 0) || !Number.isFinite(raw)) return { step: 1, values: [] };
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999);
  const values = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) values.push(k * step);
  return { step, values };
}

/** The text of one mark on an axis with this step. */
function tickText(value, step) {
  if (Math.abs(value) < step * 1e-6) return "0";
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  if (decimals <= 4 && Math.abs(value) < 1e5) return withMinus(value.toFixed(decimals));
  const digits = Math.floor(Math.log10(Math.abs(value))) - Math.floor(Math.log10(step) + 1e-9);
  return withMinus(value.toExponential(Math.min(Math.max(digits, 0), 6)));
}
