/* How the player says numbers and names. */

/** 2 -> "A, B"; 5 -> "A to E"; what is shown under other names is "Results". `said`: these words in the page's language. */
export function candidatesSaid(labels, said) {
  if (labels.length <= 1) return said.result;
  const letters = labels.every((label, place) => label === String.fromCharCode(65 + place));
  if (!letters) return labels.length === 2 ? labels.join(", ") : said.results;
  return labels.length === 2 ? "A, B" : filled(said.span, labels.at(-1));
}

/** "frame {0} of {1}" with its values. */
export const filled = (text, ...values) => text.replace(/\{(\d)\}/g, (_, place) => values[place]);

export function times(factor) {
  const fractions = { 0.125: "⅛", 0.25: "¼", 0.5: "½", 0.75: "¾" };
  return `${fractions[factor] ?? Math.round(factor * 100) / 100}×`;
}
