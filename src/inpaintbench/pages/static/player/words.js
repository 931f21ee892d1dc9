/* How the player says numbers and names. */

/** 2 -> "A, B"; 5 -> "A to E"; what is shown under other names is "Results". */
export function candidatesSaid(labels) {
  if (labels.length <= 1) return "Result";
  const letters = labels.every((label, place) => label === String.fromCharCode(65 + place));
  if (!letters) return labels.length === 2 ? labels.join(", ") : "Results";
  return labels.length === 2 ? "A, B" : `A to ${labels.at(-1)}`;
}

export function times(factor) {
  const fractions = { 0.125: "⅛", 0.25: "¼", 0.5: "½", 0.75: "¾" };
  return `${fractions[factor] ?? Math.round(factor * 100) / 100}×`;
}
