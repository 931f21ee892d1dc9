/* Numbers as people and spreadsheets read them. */

/** The mean of the finite values of a column, NaN without any. */
export function average(column) {
  let [sum, count] = [0, 0];
  for (const value of column) if (Number.isFinite(value)) [sum, count] = [sum + value, count + 1];
  return count ? sum / count : NaN;
}

export function number(value, decimals = null) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const [size, short] = [Math.abs(value), Number(value.toPrecision(3))];
  if (decimals === null && size >= 1e6) return short.toLocaleString("en", { notation: "compact", maximumSignificantDigits: 3 }).replace("-", "−");
  const text = decimals !== null ? value.toFixed(decimals) : Number.isInteger(value) ? String(value) : size < 0.001 ? value.toExponential(2) : String(short);
  return (Number(text) === 0 ? text.replace("-", "") : text).replaceAll("-", "−");
}

const plain = (value) => (value === null || Number.isNaN(value) ? "" : Math.abs(value) === Infinity ? String(value).replace("Infinity", "inf") : /^\s*[=+\-@]/.test(value) && Number.isNaN(Number(value)) ? `'${value}` : String(value)); // else a spreadsheet runs it
export const csv = (rows) => rows.map((row) => `${row.map(plain).map((text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)).join(",")}\n`).join("");
